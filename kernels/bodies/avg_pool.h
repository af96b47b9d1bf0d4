// Average pooling, windows and adaptive bins alike.
#pragma once

#include <cstdint>

#include "kernels/bodies/pool_window.h"

namespace arenagrad::bodies {

/// Over (plane and output row, output column). Rows are summed first, then their sums: the error
/// grows with the sides of a window, not with its area.
template <class T>
struct AvgPoolForward {
  PoolAxis h, w;
  bool count_include_pad;
  const T* x;
  T* y;

  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t plane = row / h.output;
    const std::int64_t o = row - plane * h.output;
    const Range rows = window(h, o);
    const Range columns = window(w, column);
    T total = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const T* line = x + (plane * h.length + i) * w.length;
      T sum = 0;
      for (std::int64_t j = columns.begin; j < columns.end; ++j) sum += line[j];
      total += sum;
    }
    y[row * w.output + column] =
        total / static_cast<T>(window_places(h, o, count_include_pad) *
                               window_places(w, column, count_include_pad));
  }
};

/// Over the rows of the input's planes: each is written by one call, from the windows that reach
/// it.
template <class T, bool kAccumulate>
struct AvgPoolBackward {
  PoolAxis h, w;
  bool count_include_pad;
  const T* dy;
  T* dx;

  ARENAGRAD_HD void operator()(std::int64_t row) const {
    const std::int64_t plane = row / h.length;
    const Range outputs = windows_over(h, row - plane * h.length);
    T* line = dx + row * w.length;
    if constexpr (!kAccumulate)
      for (std::int64_t j = 0; j < w.length; ++j) line[j] = T(0);
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
      const T* gradients = dy + (plane * h.output + o) * w.output;
      const std::int64_t places = window_places(h, o, count_include_pad);
      for (std::int64_t column = 0; column < w.output; ++column) {
        const Range columns = window(w, column);
        const T share = gradients[column] /
                        static_cast<T>(places * window_places(w, column, count_include_pad));
        for (std::int64_t j = columns.begin; j < columns.end; ++j) line[j] += share;
      }
    }
  }
};

}  // namespace arenagrad::bodies
