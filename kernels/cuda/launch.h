// The executor's launches as work for threads: each thread takes every `threads`-th item, each warp
// every `warps`-th row. Whoever includes this has included the device's `submit` first
// (kernels/cuda/submit.h for nvcc), which has
//
//   submit(stream, blocks, work)        work(thread, threads) in each of blocks * kBlock threads
//   submit_warps(stream, blocks, work)  for each row of a warp: v = work.lane(row, lane) in each
//                                       lane, the tree of kernels/bodies/executor.h over v by
//                                       work.body.combine, work.body.finish(row, v) in lane 0
//   submit_blocks(stream, blocks, work) for each row of a block of kWideBlock threads: the same
//                                       tree in each of its warps, then over the warps' results
#pragma once

#include "kernels/bodies/executor.h"
#include "kernels/bodies/host_device.h"
#include "kernels/cuda/executor.h"
#include "kernels/cuda/grid.h"

namespace arenagrad::cuda {

template <class Body>
struct EachItem {
  std::int64_t n;
  Body body;
  ARENAGRAD_HD void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t i = thread; i < n; i += threads) body(i);
  }
};

template <class Body>
struct EachPair {
  std::int64_t pairs, columns;
  Body body;
  ARENAGRAD_HD void operator()(std::int64_t thread, std::int64_t threads) const {
    // Dividing 32 bits takes a fraction of the time of 64.
    const bool small = pairs <= UINT32_MAX;
    for (std::int64_t i = thread; i < pairs; i += threads) {
      const std::int64_t row = small
                                   ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i) /
                                                               static_cast<std::uint32_t>(columns))
                                   : i / columns;
      body(row, i - row * columns);
    }
  }
};

template <class Body, std::int64_t kLanes>
struct EachRow {
  std::int64_t rows, columns;
  Body body;
  ARENAGRAD_HD typename Body::Value lane(std::int64_t row, std::int64_t lane) const {
    typename Body::Value value = body.identity();
    for (std::int64_t i = lane; i < columns; i += kLanes)
      value = body.combine(value, body.load(row, i));
    return value;
  }
};

template <class Body>
void Executor::for_each(std::int64_t n, const Body& body, std::int64_t) const {
  if (const auto blocks = blocks_for(n); blocks > 0)
    submit(stream_, blocks, EachItem<Body>{n, body});
}

template <class Body>
void Executor::for_grid(std::int64_t rows, std::int64_t columns, const Body& body,
                        std::int64_t) const {
  const std::int64_t pairs = rows * columns;
  if (const auto blocks = blocks_for(pairs); blocks > 0)
    submit(stream_, blocks, EachPair<Body>{pairs, columns, body});
}

template <class Body>
void Executor::reduce_rows(std::int64_t rows, std::int64_t columns, const Body& body) const {
  if (const auto blocks = blocks_for(rows * bodies::kReductionLanes); blocks > 0)
    submit_warps(stream_, blocks, EachRow<Body, bodies::kReductionLanes>{rows, columns, body});
}

template <class Body>
void Executor::reduce_long_rows(std::int64_t rows, std::int64_t columns, const Body& body) const {
  if (rows > 0)
    submit_blocks(stream_, rows < kMostBlocks ? rows : kMostBlocks,
                  EachRow<Body, kWideBlock>{rows, columns, body});
}

}  // namespace arenagrad::cuda
