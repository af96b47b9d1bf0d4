// Average pooling, windows and adaptive bins alike.
#pragma once

#include <cstdint>

#include "kernels/bodies/pool_window.h"

namespace arenagrad::bodies {

/// Over (interleaved planes and output row, output column and plane among them). Rows are summed
/// first, then their sums: the error grows with the sides of a window, not with its area.
template <class T, class Planes>
struct AvgPoolForward {
  PoolAxis h, w;
  Planes planes;
  bool count_include_pad;
  const T* x;
  T* y;

  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t place) const {
    const std::int64_t group = row / h.output;
    const std::int64_t o = row - group * h.output;
    const std::int64_t column = place / planes.count;
    const std::int64_t plane = place - column * planes.count;
    const Range rows = window(h, o);
    const Range columns = window(w, column);
    T total = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const T* line = x + (group * h.length + i) * w.length * planes.count + plane;
      T sum = 0;
      for (std::int64_t j = columns.begin; j < columns.end; ++j) sum += line[j * planes.count];
      total += sum;
    }
    y[row * w.output * planes.count + place] =
        total / static_cast<T>(window_places(h, o, count_include_pad) *
                               window_places(w, column, count_include_pad));
  }
};

/// Over the rows of the input's planes (interleaved ones are neighbours): each is written by one
/// call, from the windows that reach it.
template <class T, bool kAccumulate, class Planes>
struct AvgPoolBackward {
  PoolAxis h, w;
  Planes planes;
  bool count_include_pad;
  const T* dy;
  T* dx;

  ARENAGRAD_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / planes.count;
    const std::int64_t plane = i - row * planes.count;
    const std::int64_t group = row / h.length;
    const Range outputs = windows_over(h, row - group * h.length);
    T* line = dx + row * w.length * planes.count + plane;
    if constexpr (!kAccumulate)
      for (std::int64_t j = 0; j < w.length; ++j) line[j * planes.count] = T(0);
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
      const T* gradients = dy + (group * h.output + o) * w.output * planes.count + plane;
      const std::int64_t places = window_places(h, o, count_include_pad);
      for (std::int64_t column = 0; column < w.output; ++column) {
        const Range columns = window(w, column);
        const T share = gradients[column * planes.count] /
                        static_cast<T>(places * window_places(w, column, count_include_pad));
        for (std::int64_t j = columns.begin; j < columns.end; ++j) line[j * planes.count] += share;
      }
    }
  }
};

}  // namespace arenagrad::bodies
