#include "experiments/largest.h"

#include <algorithm>

namespace arenagrad {
namespace {

/// The largest up to `most` that may fit; 0: none.
std::int64_t bound_of(std::int64_t most, const std::function<bool(std::int64_t)>& may_fit) {
  if (!may_fit(1)) return 0;
  std::int64_t yes = 1, no = 1;
  while (no == yes) {
    if (yes == most) return most;
    const auto next = yes > most / 2 ? most : 2 * yes;
    (may_fit(next) ? yes : no) = next;
    if (no < yes) no = yes;
  }
  while (no - yes > 1) {
    const auto middle = yes + (no - yes) / 2;
    (may_fit(middle) ? yes : no) = middle;
  }
  return yes;
}

void add_below(std::vector<BatchRange>& ranges, std::int64_t batch) {
  if (!ranges.empty() && ranges.back().first == batch + 1) {
    ranges.back().first = batch;
  } else {
    ranges.push_back({batch, batch});
  }
}

}  // namespace

Largest find_largest(std::int64_t most, std::int64_t below, const Questions& questions) {
  Largest result;
  result.bound = bound_of(most, questions.may_fit);
  result.stopped_by_most = result.bound == most;
  std::int64_t batch = result.bound;
  for (; batch >= 1; --batch) {
    if (result.largest > 0 && batch < result.largest - below) break;
    if (questions.out_of_time()) break;
    if (result.examined.second == 0) result.examined.second = batch;
    result.examined.first = batch;
    if (!questions.fits(batch)) continue;
    result.largest = std::max(result.largest, batch);
    add_below(result.fits, batch);
  }
  if (result.largest == 0 && batch >= 1) {
    result.unexamined = BatchRange{1, batch};
    for (auto half = batch / 2; half >= 1; half /= 2) {
      if (!questions.fits(half)) continue;
      result.largest = half;
      result.fits.push_back({half, half});
      result.unexamined = BatchRange{half + 1, batch};
      break;
    }
  }
  std::reverse(result.fits.begin(), result.fits.end());
  return result;
}

}  // namespace arenagrad
