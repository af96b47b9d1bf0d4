// From the status of a CUDA, cuBLAS or cuDNN call to a DeviceError with the call, the code and the
// library's own words.
#pragma once

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <source_location>
#include <string>

#include "kernels/backend.h"

namespace arenagrad::cuda {

/// "cudaMalloc(...): expected success, got cudaErrorMemoryAllocation (out of memory), at
/// FILE:LINE".
[[noreturn]] void fail(const char* call, const std::string& got, std::source_location where);

inline void check(cudaError_t status, const char* call,
                  std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  fail(call, std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")",
       where);
}
inline void check(cublasStatus_t status, const char* call,
                  std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(call, std::string(cublasGetStatusName(status)) + " (" + cublasGetStatusString(status) + ")",
       where);
}
inline void check(cudnnStatus_t status, const char* call,
                  std::source_location where = std::source_location::current()) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail(call, cudnnGetErrorString(status), where);
}
/// Driver calls have no text without the driver library: their code alone.
inline void check(CUresult status, const char* call,
                  std::source_location where = std::source_location::current()) {
  if (status == CUDA_SUCCESS) return;
  fail(call, "CUresult " + std::to_string(static_cast<int>(status)), where);
}

}  // namespace arenagrad::cuda

/// Throws DeviceError unless `call` succeeds. A macro for the sake of the call's text.
#define ARENAGRAD_CHECK(call) ::arenagrad::cuda::check((call), #call)
