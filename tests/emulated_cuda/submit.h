// Hands work to the emulated GPU; see kernels/cuda/launch.h for what it does. Threads run one after
// another, the last one first: a body that counts on an order fails.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/bodies/executor.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/grid.h"
#include "tests/emulated_cuda/machine.h"

namespace arenagrad::cuda {

/// Throws DeviceError for a launch that a GPU would refuse.
inline void check_launch(cudaStream_t stream, std::int64_t blocks) {
  auto& machine = emulated_cuda::machine();
  if (machine.enter("kernel launch")) check(cudaErrorLaunchFailure, "kernel launch");
  if (!machine.expect(emulated_cuda::Kind::stream, stream, "kernel launch"))
    check(cudaErrorInvalidResourceHandle, "kernel launch");
  static_assert(kBlock % bodies::kReductionLanes == 0 && kBlock <= 1024 && kWideBlock <= 1024);
  if (blocks >= 1 && blocks <= INT32_MAX) return;
  machine.violation("kernel launch: " + std::to_string(blocks) + " blocks");
  check(cudaErrorInvalidValue, "kernel launch");
}

template <class Work>
void submit(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  check_launch(stream, blocks);
  emulated_cuda::machine().enqueue(stream, [=] {
    const std::int64_t threads = blocks * kBlock;
    for (std::int64_t thread = threads - 1; thread >= 0; --thread) work(thread, threads);
  });
}

/// The tree over what `lane` gives for a warp's lanes.
template <class Body, class Lane>
auto warp_total(const Body& body, const Lane& lane) {
  constexpr int kLanes = bodies::kReductionLanes;
  decltype(lane(0)) lanes[kLanes];
  for (int l = kLanes - 1; l >= 0; --l) lanes[l] = lane(l);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] = body.combine(lanes[l], lanes[l + half]);
  return lanes[0];
}

template <class Work>
void submit_warps(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  check_launch(stream, blocks);
  emulated_cuda::machine().enqueue(stream, [=] {
    for (std::int64_t row = work.rows - 1; row >= 0; --row)
      work.body.finish(row, warp_total(work.body, [&](int l) { return work.lane(row, l); }));
  });
}

template <class Work>
void submit_blocks(cudaStream_t stream, std::int64_t blocks, const Work& work) {
  check_launch(stream, blocks);
  emulated_cuda::machine().enqueue(stream, [=] {
    constexpr int kLanes = bodies::kReductionLanes;
    for (std::int64_t row = work.rows - 1; row >= 0; --row)
      work.body.finish(row, warp_total(work.body, [&](int warp) {
                         return warp_total(
                             work.body, [&](int l) { return work.lane(row, warp * kLanes + l); });
                       }));
  });
}

}  // namespace arenagrad::cuda
