// The table of layer variants that the gradient and consistency tests run over.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "layers/layers.h"
#include "tests/layers/harness.h"

namespace arenagrad::testing {

/// Where a layer's derivative jumps. Values are drawn so that no difference quotient crosses it.
enum class Kinks : std::uint8_t { none, at_zero, at_zero_and_six, at_ties };
/// Closest to a kink, and half the smallest gap between two values, that drawn inputs come.
inline constexpr double kKinkMargin = 0.01;

struct Variant {
  std::string name;  // "conv2d_stride2"
  std::function<std::unique_ptr<Layer>()> make;
  std::vector<Shape> inputs;  // per sample
  std::int64_t batch = 2;
  bool differs_in_eval = false;  // batch norm, dropout
  Kinks kinks = Kinks::none;
};

/// Small enough that every derivative can be checked by differences.
const std::vector<Variant>& variants();
/// Large enough that kernels cut them into several tiles.
const std::vector<Variant>& large_variants();

/// The modes to test a variant in.
std::vector<RunMode> modes_of(const Variant& variant);

/// Reproducible values, each representable in f32.
Values draw_values(const Variant& variant, const Layer& layer, std::uint64_t seed);

/// For test names.
void PrintTo(const Variant& variant, std::ostream* out);

}  // namespace arenagrad::testing
