// Non-owning views of tensors in an arena; passed by value. Dimension 0 is the batch where there is
// one; data is dense, row-major unless the layout says otherwise.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/dtype.h"
#include "kernels/shape.h"

namespace arenagrad {

/// How the four dimensions of an image (N, C, H, W) or of a filter (K, C, R, S) lie in memory: as
/// they are named, or with the channels innermost. Shapes don't change with it, nor do bytes, and
/// tensors of other ranks are row-major in both.
enum class Layout : std::uint8_t { nchw, nhwc };

constexpr std::string_view name(Layout layout) { return layout == Layout::nchw ? "nchw" : "nhwc"; }

struct ConstTensor {
  const void* data = nullptr;
  Shape shape;
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;

  template <class T>
  const T* as() const {
    check_contract(dtype == dtype_of<T>, "tensor read as another type");
    return static_cast<const T*>(data);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
  /// Its elements are not in the order of its shape.
  bool channels_last() const { return layout == Layout::nhwc && shape.rank() == 4; }
  explicit operator bool() const { return data != nullptr; }
};

struct Tensor {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;

  template <class T>
  T* as() const {
    check_contract(dtype == dtype_of<T>, "tensor written as another type");
    return static_cast<T*>(data);
  }
  operator ConstTensor() const { return {data, shape, dtype, layout}; }
  std::size_t bytes() const { return ConstTensor(*this).bytes(); }
  bool channels_last() const { return ConstTensor(*this).channels_last(); }
  explicit operator bool() const { return data != nullptr; }
};

/// Scratch memory of one kernel call: exactly the declared bytes.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// How a gradient is written: first writer overwrites, the following add.
enum class Write : std::uint8_t { overwrite, accumulate };

}  // namespace arenagrad
