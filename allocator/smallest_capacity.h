// The smallest device that a run fits on, found by trying.
#pragma once

#include <cstddef>

#include "allocator/error.h"

namespace arenagrad {

/// A capacity on which `runs(capacity)` is true while it is false at `step` bytes less, among those
/// that are whole steps below `enough`. Halves the steps between `enough`, on which it runs, and
/// nothing, on which it doesn't. Where a strategy adapts to its capacity, one may be found that is
/// not the very smallest: some run, fail with more, and run again with more still.
template <class Runs>
std::size_t smallest_capacity(std::size_t enough, std::size_t step, Runs runs) {
  check_contract(step > 0, "a search in steps of no bytes");
  check_contract(runs(enough), "a search for less than enough, from where it was not enough");
  std::size_t good = 0,
              bad = (enough - 1) / step + 1;  // steps below `enough`; at `bad` nothing is left
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (runs(enough - middle * step) ? good : bad) = middle;
  }
  return enough - good * step;
}

}  // namespace arenagrad
