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

/// The tree over a warp's values; lane 0 has the result.
template <class Body, class Value>
__device__ Value warp_total(const Body& body, Value value) {
  for (int half = bodies::kReductionLanes / 2; half > 0; half /= 2)
    value = body.combine(value, __shfl_down_sync(0xFFFFFFFFu, value, half));
  return value;
}

template <class Work>
__global__ void __launch_bounds__(kBlock) run_warps(Work work) {
  constexpr int kLanes = bodies::kReductionLanes;
  constexpr std::int64_t kWarps = kBlock / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / kLanes;
  for (; row < work.rows; row += static_cast<std::int64_t>(gridDim.x) * kWarps) {
    const auto value = warp_total(work.body, work.lane(row, lane));
    if (lane == 0) work.body.finish(row, value);
    __syncwarp();
  }
}

template <class Work>
__global__ void __launch_bounds__(kWideBlock) run_blocks(Work work) {
  constexpr int kLanes = bodies::kReductionLanes;
  static_assert(kWideBlock == kLanes * kLanes, "one warp takes the results of all warps");
  __shared__ decltype(work.lane(0, 0)) of_warp[kLanes];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  for (std::int64_t row = blockIdx.x; row < work.rows; row += gridDim.x) {
    const auto value = warp_total(work.body, work.lane(row, threadIdx.x));
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
      const auto total = warp_total(work.body, of_warp[lane]);
      if (lane == 0) work.body.finish(row, total);
    }
    __syncthreads();  // before the next row's values come
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

template <class Work>
void submit_blocks(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  run_blocks<<<static_cast<unsigned>(blocks), static_cast<unsigned>(kWideBlock), 0, stream>>>(work);
  check(cudaGetLastError(), "kernel launch");
}

}  // namespace arenagrad::cuda
