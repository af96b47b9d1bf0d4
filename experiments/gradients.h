// A step's gradients as plain host arrays, and how far two of them are apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace arenagrad {

/// Values of one named tensor in host memory, in the type they were computed in.
struct HostTensor {
  std::string name;
  DType dtype = DType::f32;  // f32 or f64
  std::vector<std::byte> bytes;

  std::size_t elements() const { return bytes.size() / size_of(dtype); }
  double value(std::size_t i) const;
};

using HostTensors = std::vector<HostTensor>;

std::size_t bytes_of(const HostTensors& tensors);

/// How far `b` is from `a`. All sums are taken in double.
struct Difference {
  double max_abs = 0;
  double rel_l2 = 0;   // |a - b| / max(|a|, |b|) over everything together
  double cosine = 1;   // 1 when both are zero
  double max_ulp = 0;  // in units of the last place of each tensor's largest magnitude
  bool finite = true;  // neither has a NaN or an infinity
  /// The parameter with the largest difference relative to max(its norm, its floor), the floor
  /// being 1e-6 x the whole gradient's norm x sqrt(its share of the elements). Empty when none
  /// differs.
  std::string worst_parameter;
  double worst_difference = 0;
  /// Parameters whose gradient is under the floor: zero up to rounding (a convolution's bias before
  /// batch norm). They count in max_abs and rel_l2, never as the worst, nor in max_ulp.
  std::vector<std::string> zero_up_to_rounding;
};

/// Both hold the same names with the same numbers of elements; ContractError otherwise. Units of
/// the last place are those of `a`'s type.
Difference difference(const HostTensors& a, const HostTensors& b);

/// Distance from 1-ulp neighbour at `magnitude` (> 0) in the type; the smallest denormal for 0.
double ulp(double magnitude, DType dtype);

}  // namespace arenagrad
