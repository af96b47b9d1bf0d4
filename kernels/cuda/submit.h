// Hands work to a GPU: the only text that none but nvcc compiles. See launch.h for what it does.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/bodies/executor.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/grid.h"

namespace arenagrad::cuda {

template <class Work>
__global__ void __launch_bounds__(kBlock) run_threads(Work work) {
  work(static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x,
       static_cast<std::int64_t>(gridDim.x) * kBlock);
}

template <class Work>
__global__ void __launch_bounds__(kBlock) run_warps(Work work) {
  constexpr int kLanes = bodies::kReductionLanes;
  constexpr std::int64_t kWarps = kBlock / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / kLanes;
  for (; row < work.rows; row += static_cast<std::int64_t>(gridDim.x) * kWarps) {
    auto value = work.lane(row, lane);
    for (int half = kLanes / 2; half > 0; half /= 2)
      value = work.body.combine(value, __shfl_down_sync(0xFFFFFFFFu, value, half));
    if (lane == 0) work.body.finish(row, value);
    __syncwarp();
  }
}

template <class Work>
void submit(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  run_threads<<<static_cast<unsigned>(blocks), static_cast<unsigned>(kBlock), 0, stream>>>(work);
  check(cudaGetLastError(), "kernel launch");
}

template <class Work>
void submit_warps(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  run_warps<<<static_cast<unsigned>(blocks), static_cast<unsigned>(kBlock), 0, stream>>>(work);
  check(cudaGetLastError(), "kernel launch");
}

}  // namespace arenagrad::cuda
