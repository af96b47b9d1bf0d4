#include "kernels/cuda/session.h"

#include <algorithm>

#include "kernels/cuda/host_image.h"

namespace arenagrad::cuda {
namespace {

Stream make_stream(int device) {
  ARENAGRAD_CHECK(cudaSetDevice(device));
  cudaStream_t stream = nullptr;
  ARENAGRAD_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

BlasHandle make_blas(cudaStream_t stream, bool allow_tf32) {
  cublasHandle_t handle = nullptr;
  ARENAGRAD_CHECK(cublasCreate_v2(&handle));
  BlasHandle owned(handle);
  ARENAGRAD_CHECK(cublasSetStream_v2(handle, stream));
  ARENAGRAD_CHECK(
      cublasSetMathMode(handle, allow_tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
  return owned;
}

DnnHandle make_dnn(cudaStream_t stream) {
  cudnnHandle_t handle = nullptr;
  ARENAGRAD_CHECK(cudnnCreate(&handle));
  DnnHandle owned(handle);
  ARENAGRAD_CHECK(cudnnSetStream(handle, stream));
  return owned;
}

Event make_event() {
  cudaEvent_t event = nullptr;
  ARENAGRAD_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

PinnedMemory make_pinned(std::size_t bytes) {
  void* memory = nullptr;
  ARENAGRAD_CHECK(cudaMallocHost(&memory, bytes));
  return PinnedMemory(memory);
}

}  // namespace

Staging::Staging(cudaStream_t stream)
    : stream_(stream), memory_(make_pinned(2 * kHalf)), sent_{make_event(), make_event()} {}

// Nothing is told in a destructor; a device that failed stays failed.
Staging::~Staging() { static_cast<void>(cudaDeviceSynchronize()); }

void Staging::upload(const Tensor& to, const void* from) {
  const HostImage image(to);
  const std::size_t bytes = to.bytes();
  for (std::size_t at = 0; at < bytes; at += kHalf, next_ = 1 - next_) {
    const std::size_t part = std::min(kHalf, bytes - at);
    ARENAGRAD_CHECK(cudaEventSynchronize(sent_[next_].get()));
    image.to_gpu(static_cast<const std::byte*>(from), at, part, half(next_));
    ARENAGRAD_CHECK(cudaMemcpyAsync(static_cast<std::byte*>(to.data) + at, half(next_), part,
                                    cudaMemcpyHostToDevice, stream_));
    ARENAGRAD_CHECK(cudaEventRecord(sent_[next_].get(), stream_));
  }
}

void Staging::download(void* to, const ConstTensor& from) {
  const HostImage image(from);
  const std::size_t bytes = from.bytes();
  for (std::size_t at = 0; at < bytes; at += 2 * kHalf) {
    const std::size_t part = std::min(2 * kHalf, bytes - at);
    ARENAGRAD_CHECK(cudaMemcpyAsync(memory_.get(), static_cast<const std::byte*>(from.data) + at,
                                    part, cudaMemcpyDeviceToHost, stream_));
    ARENAGRAD_CHECK(cudaStreamSynchronize(stream_));
    image.from_gpu(half(0), at, part, static_cast<std::byte*>(to));
  }
}

Session::Session(int device, bool allow_tf32)
    : device_(device),
      stream_(make_stream(device)),
      blas_(make_blas(stream_.get(), allow_tf32)),
      dnn_(make_dnn(stream_.get())),
      staging_(stream_.get()) {}

void Session::use_blas_workspace(void* data, std::size_t bytes) {
  // Setting a stream would put cuBLAS back to memory of its own: it was set before.
  ARENAGRAD_CHECK(cublasSetWorkspace_v2(blas(), data, bytes));
}

}  // namespace arenagrad::cuda
