// What the parts of the emulated cuDNN share.
#pragma once

#include <cudnn.h>

#include <string>

#include "tests/emulated_cuda/dense.h"
#include "tests/emulated_cuda/machine.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  bool set = false;
  emulated_cuda::Layout4 layout;
};

namespace emulated_cuda {

inline cudnnStatus_t illegal(const std::string& text,
                             cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  machine().violation(text);
  return status;
}

/// A live handle with a stream of its own.
inline bool expect_dnn(cudnnHandle_t handle, const char* call) {
  if (!machine().expect(Kind::dnn_handle, handle, call)) return false;
  if (machine().alive(Kind::stream, handle->stream)) return true;
  machine().violation(std::string(call) + ": no live stream was set");
  return false;
}

}  // namespace emulated_cuda
