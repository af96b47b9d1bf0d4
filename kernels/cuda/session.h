// What one run holds of a GPU beside its memory: the stream on which everything runs, the
// libraries' handles, pinned memory for copies. Needs CUDA's headers.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/cuda/error.h"
#include "kernels/tensor.h"

namespace arenagrad::cuda {

/// Owns what a pair of calls makes and unmakes. Unmaking ignores errors: what could be reported has
/// been, by the call that failed first.
template <class T, auto kDestroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T value) : value_(value) {}
  ~Owned() {
    if (value_ != T{}) static_cast<void>(kDestroy(value_));
  }
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  T get() const { return value_; }

 private:
  T value_{};
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using PinnedMemory = Owned<void*, cudaFreeHost>;
using BlasHandle = Owned<cublasHandle_t, cublasDestroy_v2>;
using DnnHandle = Owned<cudnnHandle_t, cudnnDestroy>;
using TensorDescriptor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;

/// Copies through two halves of pinned memory, so that one fills while the other travels.
class Staging {
 public:
  explicit Staging(cudaStream_t stream);
  /// Waits for pieces that are on their way.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// The host's arrays are row-major. Returns once `from` has been read; the last pieces may still
  /// be on their way.
  void upload(const Tensor& to, const void* from);
  /// Returns when the data is there: waits for the stream.
  void download(void* to, const ConstTensor& from);

  static constexpr std::size_t kHalf = std::size_t{4} << 20;  // bytes

 private:
  std::byte* half(std::size_t i) const {
    return static_cast<std::byte*>(memory_.get()) + i * kHalf;
  }

  cudaStream_t stream_;
  PinnedMemory memory_;
  std::array<Event, 2> sent_;  // the half may be written again
  std::size_t next_ = 0;
};

class Session {
 public:
  /// Makes GPU number `device` this thread's and creates everything on it. Throws DeviceError.
  Session(int device, bool allow_tf32);

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_.get(); }
  cublasHandle_t blas() const { return blas_.get(); }
  cudnnHandle_t dnn() const { return dnn_.get(); }
  Staging& staging() { return staging_; }

  /// cuBLAS works in this memory alone from now on; it must be aligned to 256 bytes.
  void use_blas_workspace(void* data, std::size_t bytes);

 private:
  int device_;
  Stream stream_;
  BlasHandle blas_;
  DnnHandle dnn_;
  Staging staging_;
};

}  // namespace arenagrad::cuda
