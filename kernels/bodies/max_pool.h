// Max pooling. The index of a maximum is i64 as a place in the input plane, or u8 or i32 as a place
// in the window (row * kernel_w + column); `void` for none. Every window holds an input; there are
// no adaptive bins.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/bodies/pool_window.h"

namespace arenagrad::bodies {

template <class Index>
inline constexpr bool kPlaneIndex = std::is_same_v<Index, std::int64_t>;

/// The columns of [0, count) whose input `first + column * stride` lies in the line.
ARENAGRAD_HD inline Range columns_inside(const PoolAxis& w, std::int64_t first,
                                         std::int64_t count) {
  const std::int64_t begin = first >= 0 ? 0 : (-first + w.stride - 1) / w.stride;
  if (first + (count - 1) * w.stride < w.length) return {begin, count};
  return {begin, first < w.length ? (w.length - 1 - first) / w.stride + 1 : 0};
}

/// Over (interleaved planes and output row, strip of output columns and plane among them). Taps of
/// the window are the outer loop: a tap's place in the window is one number for all columns.
template <class T, class Index, int kStrip, class Planes>
struct MaxPoolForward {
  PoolAxis h, w;
  Planes planes;
  const T* x;
  T* y;
  Index* index;

  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t place_in_row) const {
    const std::int64_t group = row / h.output;
    const std::int64_t o = row - group * h.output;
    const std::int64_t strip_number = place_in_row / planes.count;
    const std::int64_t plane = place_in_row - strip_number * planes.count;
    const std::int64_t top = window_begin(h, o);
    const Range rows = window(h, o);
    const Strip strip(strip_number, kStrip, w.output);
    const std::int64_t left = window_begin(w, strip.first);
    const std::int64_t stride = w.stride;

    T best[kStrip];
    std::int32_t place[kStrip];
    for (std::int64_t l = 0; l < kStrip; ++l) {
      const std::int64_t outside = -(left + l * stride);
      best[l] = -static_cast<T>(INFINITY);
      place[l] =
          static_cast<std::int32_t>((rows.begin - top) * w.kernel + (outside > 0 ? outside : 0));
    }
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const T* line = x + (group * h.length + i) * w.length * planes.count + plane;
      for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
        const auto here = static_cast<std::int32_t>((i - top) * w.kernel + tap);
        const std::int64_t first = left + tap;
        const Range lanes = columns_inside(w, first, strip.count);
        for (std::int64_t l = lanes.begin; l < lanes.end; ++l) {
          const T value = line[(first + l * stride) * planes.count];
          const bool take = (value > best[l]) | (value != value);
          best[l] = take ? value : best[l];
          place[l] = take ? here : place[l];
        }
      }
    }
    const std::int64_t out = (row * w.output + strip.first) * planes.count + plane;
    for (std::int64_t l = 0; l < strip.count; ++l) {
      const std::int64_t at = out + l * planes.count;
      y[at] = best[l];
      if constexpr (kPlaneIndex<Index>)
        index[at] =
            (top + place[l] / w.kernel) * w.length + left + l * stride + place[l] % w.kernel;
      else if constexpr (!std::is_void_v<Index>)
        index[at] = static_cast<Index>(place[l]);
    }
  }
};

/// a == b. For 64 bits in a form that vectors of 32 bits can take.
template <class Index>
ARENAGRAD_HD bool same_place(Index a, Index b) {
  if constexpr (sizeof(Index) == 8) {
    const auto difference = static_cast<std::uint64_t>(a ^ b);
    return (static_cast<std::uint32_t>(difference) |
            static_cast<std::uint32_t>(difference >> 32)) == 0;
  } else {
    return a == b;
  }
}

/// Over the rows of the input's planes (interleaved ones are neighbours): each is written by one
/// call, which looks at the outputs whose windows reach it. So there are no two writers, and sums
/// have one order.
template <class T, class Index, int kStrip, bool kAccumulate, class Planes>
struct MaxPoolBackward {
  PoolAxis h, w;
  Planes planes;
  const Index* index;
  const T* dy;
  T* dx;

  ARENAGRAD_HD void operator()(std::int64_t place_of_row) const {
    const std::int64_t row = place_of_row / planes.count;
    const std::int64_t plane = place_of_row - row * planes.count;
    const std::int64_t group = row / h.length;
    const std::int64_t i = row - group * h.length;
    T* line = dx + row * w.length * planes.count + plane;
    if constexpr (!kAccumulate)
      for (std::int64_t j = 0; j < w.length; ++j) line[j * planes.count] = T(0);
    const Range outputs = windows_over(h, i);
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
      const std::int64_t out = (group * h.output + o) * w.output * planes.count + plane;
      const std::int64_t first_tap = (i - window_begin(h, o)) * w.kernel;
      for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
        const std::int64_t first = tap - w.pad;
        const Range columns = columns_inside(w, first, w.output);
        for (std::int64_t begin = columns.begin; begin < columns.end; begin += kStrip) {
          const std::int64_t count = columns.end - begin < kStrip ? columns.end - begin : kStrip;
          T share[kStrip];
          for (std::int64_t l = 0; l < count; ++l) {
            const std::int64_t column = begin + l;
            const std::int64_t j = first + column * w.stride;
            const Index here =
                static_cast<Index>(kPlaneIndex<Index> ? i * w.length + j : first_tap + tap);
            const std::int64_t at = out + column * planes.count;
            const T gradient = dy[at];
            share[l] = same_place(index[at], here) ? gradient : T(0);
          }
          for (std::int64_t l = 0; l < count; ++l)
            line[(first + (begin + l) * w.stride) * planes.count] += share[l];
        }
      }
    }
  }
};

}  // namespace arenagrad::bodies
