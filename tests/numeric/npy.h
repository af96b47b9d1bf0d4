// Reads numpy's .npy files: what reference tensors are stored in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/error.h"
#include "kernels/dtype.h"

namespace arenagrad::numeric {

/// A dense array in C order. Floating types are widened to double, which is exact.
struct NpyArray {
  DType type = DType::f32;             // as stored: f32, f64 or i64
  std::vector<std::int64_t> shape;     // empty: a scalar
  std::vector<double> values;          // of the floating types
  std::vector<std::int64_t> integers;  // of i64
};

/// Versions 1 to 3, types '<f4', '<f8', '<i8', C order. Throws Error, naming the file, for anything
/// else: another type or order, a size that does not match the shape.
NpyArray read_npy(const std::string& path);

}  // namespace arenagrad::numeric
