// The CPU executor's launches: work is cut by shape alone into tiles of about kTileElements
// elements, a tile's loop is inlined and free to be vectorised.
#pragma once

#include "kernels/bodies/executor.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/parallel.h"

namespace arenagrad::cpu {

/// Enough to hide the cost of a tile, few enough for tiles to be many.
inline constexpr std::int64_t kTileElements = 16384;

/// fn(first, last) over parts of [0, n).
template <class Fn>
void for_tiles(int threads, std::int64_t n, std::int64_t elements, const Fn& fn) {
  const std::int64_t step = elements < kTileElements ? kTileElements / elements : 1;
  parallel_tiles(threads, (n + step - 1) / step, [&](int, std::int64_t tile) {
    const std::int64_t first = tile * step;
    fn(first, n - first < step ? n : first + step);
  });
}

// Bodies are copied before a loop: then no store through their pointers can change them.

template <class Body>
void Executor::for_each(std::int64_t n, const Body& body, std::int64_t elements) const {
  for_tiles(threads_, n, elements, [&](std::int64_t first, std::int64_t last) {
    const Body local = body;
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) local(i);
  });
}

template <class Body>
void Executor::for_grid(std::int64_t rows, std::int64_t columns, const Body& body,
                        std::int64_t elements) const {
  if (columns == 0) return;
  for_tiles(threads_, rows * columns, elements, [&](std::int64_t first, std::int64_t last) {
    const Body local = body;
    std::int64_t row = first / columns;
    std::int64_t column = first - row * columns;
    for (; first < last; ++row) {
      const std::int64_t count = last - first < columns - column ? last - first : columns - column;
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) local(row, column + i);
      first += count;
      column = 0;
    }
  });
}

template <class Body>
void Executor::reduce_rows(std::int64_t rows, std::int64_t columns, const Body& body) const {
  constexpr std::int64_t kLanes = bodies::kReductionLanes;
  for_tiles(threads_, rows, columns, [&](std::int64_t first, std::int64_t last) {
    const Body local = body;
    for (std::int64_t row = first; row < last; ++row) {
      typename Body::Value lanes[kLanes];
      for (auto& lane : lanes) lane = local.identity();
      for (std::int64_t begin = 0; begin < columns; begin += kLanes) {
        const std::int64_t count = columns - begin < kLanes ? columns - begin : kLanes;
        for (std::int64_t l = 0; l < count; ++l)
          lanes[l] = local.combine(lanes[l], local.load(row, begin + l));
      }
      for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
        for (std::int64_t l = 0; l < half; ++l) lanes[l] = local.combine(lanes[l], lanes[l + half]);
      local.finish(row, lanes[0]);
    }
  });
}

}  // namespace arenagrad::cpu
