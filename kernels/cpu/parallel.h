// How CPU kernels use several threads. Work is cut into tiles by its shape alone, and a tile's
// result depends on nothing but the tile; so results are bitwise equal for any number of threads.
// Scratch is laid out for kLanes lanes, whatever the number of threads: bytes don't depend on it
// either.
//
// Nothing here allocates once the OpenMP runtime has its threads, that is after the first call with
// this `threads`. A callback must not throw.
#pragma once

#include <omp.h>

#include <cstdint>

namespace arenagrad::cpu {

/// Lanes that scratch is laid out for; no more threads than this work on one kernel.
inline constexpr int kLanes = 8;

/// fn(slot, tile) for tile 0..tiles-1 in any order, on at most `threads` threads. Two calls that
/// run at the same time have different slots in [0, kLanes): a slot is the right to use one lane's
/// scratch and says nothing else. Never keep a sum per slot.
template <class Fn>
void parallel_tiles(int threads, std::int64_t tiles, const Fn& fn) {
  const int workers = threads < kLanes ? threads : kLanes;
  if (workers <= 1 || tiles <= 1) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) fn(0, tile);
    return;
  }
#pragma omp parallel num_threads(workers)
  {
    const int slot = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t tile = 0; tile < tiles; ++tile) fn(slot, tile);
  }
}

/// fn(lane, tile): lane `tile % kLanes` runs tile, a lane's tiles in rising order and never two at
/// once. So a lane may keep a sum of its own, and the sum is the same for any number of threads.
template <class Fn>
void parallel_lanes(int threads, std::int64_t tiles, const Fn& fn) {
  const std::int64_t lanes = tiles < kLanes ? tiles : kLanes;
  parallel_tiles(threads, lanes, [&](int, std::int64_t lane) {
    for (std::int64_t tile = lane; tile < tiles; tile += kLanes) fn(static_cast<int>(lane), tile);
  });
}

}  // namespace arenagrad::cpu
