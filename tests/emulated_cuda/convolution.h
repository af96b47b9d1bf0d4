// One convolution as the emulated cuDNN has understood it, and its arithmetic: naive, in double.
#pragma once

#include <array>
#include <cstdint>

#include "tests/emulated_cuda/dense.h"

namespace emulated_cuda {

enum class ConvDirection { forward, data, filter };

struct Convolution {
  ConvDirection direction = ConvDirection::forward;
  Layout4 x, w, y;
  std::array<std::int64_t, 3> ids{};         // of x, w, y
  std::array<std::int64_t, 3> alignments{};  // bytes, likewise
  std::array<std::int64_t, 2> stride{}, dilation{}, before{}, after{};
  bool wide_compute = false;
  double alpha = 1, beta = 0;

  std::int64_t groups() const { return x.dims[1] / w.dims[1]; }
  /// The tensor that is written: 0 x, 1 w, 2 y.
  std::size_t output() const {
    return direction == ConvDirection::forward ? 2 : direction == ConvDirection::data ? 0 : 1;
  }
  const Layout4& layout(std::size_t i) const { return i == 0 ? x : i == 1 ? w : y; }
  /// What is wrong with the shapes; empty when nothing is.
  const char* fault() const;
  /// By x, w, y.
  void run(const std::array<void*, 3>& data) const;
};

}  // namespace emulated_cuda
