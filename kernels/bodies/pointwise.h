// Bodies that treat each element alone. Every output may be one of the inputs.
#pragma once

#include <cstdint>

#include "kernels/bodies/host_device.h"
#include "kernels/problems.h"

namespace arenagrad::bodies {

template <class T>
struct Fill {
  T value;
  T* out;
  ARENAGRAD_HD void operator()(std::int64_t i) const { out[i] = value; }
};

template <class T>
struct Increment {
  T* out;
  ARENAGRAD_HD void operator()(std::int64_t i) const { out[i] += T(1); }
};

template <class T, bool kAccumulate>
struct Add {
  const T* from;
  T* to;
  ARENAGRAD_HD void operator()(std::int64_t i) const { store<kAccumulate>(to + i, from[i]); }
};

/// The same between two layouts.
template <class T, bool kAccumulate, class Order>
struct AddReordered {
  Order from_place, to_place;
  const T* from;
  T* to;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    store<kAccumulate>(to + to_place(i), from[from_place(i)]);
  }
};

template <class T>
struct Sum {
  const T* a;
  const T* b;
  T* out;
  ARENAGRAD_HD void operator()(std::int64_t i) const { out[i] = a[i] + b[i]; }
};

/// A comparison with NaN is false: NaN passes.
template <class T, bool kCapped>
struct ReluForward {
  T ceiling;
  const T* x;
  T* y;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    const T positive = T(0) > x[i] ? T(0) : x[i];
    y[i] = kCapped && ceiling < positive ? ceiling : positive;
  }
};

template <class T, bool kCapped, bool kAccumulate>
struct ReluBackward {
  T ceiling;
  const T* y;
  const T* dy;
  T* dx;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    const T gradient = dy[i];
    const bool open = (y[i] > T(0)) & (!kCapped | (y[i] < ceiling));
    store<kAccumulate>(dx + i, open ? gradient : T(0));
  }
};

/// Rows of a narrow tensor within the rows of a wide one, in elements.
struct Slice {
  std::int64_t row, wide_row, wide_begin;
  ARENAGRAD_HD std::int64_t narrow(std::int64_t r, std::int64_t i) const { return r * row + i; }
  ARENAGRAD_HD std::int64_t wide(std::int64_t r, std::int64_t i) const {
    return r * wide_row + wide_begin + i;
  }
};

inline Slice slice_of(const SliceProblem& p) {
  return {p.channels * p.spatial, p.wide_channels * p.spatial, p.begin * p.spatial};
}

/// Over the narrow tensor's rows and their elements.
template <class T>
struct CopyIntoSlice {
  Slice slice;
  const T* narrow;
  T* wide;
  ARENAGRAD_HD void operator()(std::int64_t r, std::int64_t i) const {
    wide[slice.wide(r, i)] = narrow[slice.narrow(r, i)];
  }
};

template <class T, bool kAccumulate>
struct CopyFromSlice {
  Slice slice;
  const T* wide;
  T* narrow;
  ARENAGRAD_HD void operator()(std::int64_t r, std::int64_t i) const {
    store<kAccumulate>(narrow + slice.narrow(r, i), wide[slice.wide(r, i)]);
  }
};

}  // namespace arenagrad::bodies
