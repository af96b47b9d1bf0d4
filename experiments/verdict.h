// When two gradients count as the same. Pure decisions on numbers measured elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/dtype.h"

namespace arenagrad {

/// Largest rel_l2 at which two gradients of a type are the same up to rounding: 1e-5 in f32, 1e-11
/// in f64.
double tolerance(DType dtype);

enum class Verdict : std::uint8_t {
  equal,              // within the tolerance
  equal_up_to_flips,  // not within it, branches flipped, and equal in f64
  different,          // a failed check
  not_the_same,       // the modes compute different things; the difference is shown, not judged
};

struct Evidence {
  double rel_l2 = 0;
  bool finite = true;
  std::uint64_t flips = 0;
  bool same_computation = true;  // false when layers couple the samples of differing micro-batches
  std::optional<double> rel_l2_f64;  // of the same two modes run again in f64
};

Verdict judge(const Evidence& evidence, DType dtype);

/// Whether the verdict hangs on an f64 rerun that has not been made yet.
bool wants_f64(const Evidence& evidence, DType dtype);

/// "equal", "equal up to 5 flips", "different", "not the same computation".
std::string text(Verdict verdict, std::uint64_t flips);

}  // namespace arenagrad
