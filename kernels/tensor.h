// Non-owning views of tensors in an arena; passed by value. Dimension 0 is the batch where there is
// one; data is dense, row-major (NCHW).
#pragma once

#include "kernels/dtype.h"
#include "kernels/shape.h"

namespace arenagrad {

struct ConstTensor {
  const void* data = nullptr;
  Shape shape;
  DType dtype = DType::f32;

  template <class T>
  const T* as() const {
    check_contract(dtype == dtype_of<T>, "tensor read as another type");
    return static_cast<const T*>(data);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
  explicit operator bool() const { return data != nullptr; }
};

struct Tensor {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::f32;

  template <class T>
  T* as() const {
    check_contract(dtype == dtype_of<T>, "tensor written as another type");
    return static_cast<T*>(data);
  }
  operator ConstTensor() const { return {data, shape, dtype}; }
  std::size_t bytes() const { return ConstTensor(*this).bytes(); }
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
