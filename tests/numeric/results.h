// What a reference case records and what a run of ours measures, in one form, and their comparison.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/dtype.h"

namespace arenagrad::numeric {

enum class Kind : std::uint8_t {
  loss,  // of three steps, as one tensor: a loss near 0 is a difference of numbers that are not
  logits,
  activation,
  gradient,
  input_gradient,
  state_after1,  // running statistics
  state_after2,
  parameter_after2,
};
inline constexpr std::size_t kKindCount = 8;
inline constexpr std::array<std::string_view, kKindCount> kKindNames = {
    "loss", "logits", "activations", "gradients", "input grad", "stats 1", "stats 2", "params 2"};
constexpr std::string_view name(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

/// Whole batch, row-major.
struct Values {
  std::vector<double> values;
  bool stored_as_f32 = false;  // and so rounded, whatever they were computed in
};

/// Tensors by what they are and the name of their layer, parameter or state.
using Results = std::map<Kind, std::map<std::string, Values>>;

/// Largest allowed difference, relative to the tensor's largest value: 1e-5 in f32; 1e-11 in f64,
/// 1e-10 for parameters after two steps, and half a unit in the last place of a float where the
/// expected values were stored as such.
double limit(Kind kind, DType dtype, bool stored_as_f32);

/// The worst tensor of a kind.
struct Worst {
  double error = 0;  // relative to the tensor's largest expected value
  std::string name;
  std::size_t place = 0;  // element
  double expected = 0, got = 0;
};

struct Comparison {
  std::map<Kind, Worst> worst;        // kinds that were expected
  std::map<Kind, std::size_t> zeros;  // tensors zero up to rounding on both sides
  std::vector<std::string> failures;  // one sentence each; empty: all within the limits
};

/// Everything in `expected` has to be in `got` with as many elements, within the limits.
///
/// A tensor that is zero up to rounding has no largest value to be relative to (the gradient of a
/// bias in front of batch norm in train mode: true value 0): where both sides are below a tenth of
/// the limit times the largest value of their kind, they agree.
Comparison compare(const Results& expected, const Results& got, DType dtype);

}  // namespace arenagrad::numeric
