// The largest number with a property that need not be monotone, under a bound that is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace arenagrad {

/// Inclusive.
using BatchRange = std::pair<std::int64_t, std::int64_t>;

struct Questions {
  /// Never true again once false; and false means that `fits` is false.
  std::function<bool(std::int64_t)> may_fit;
  std::function<bool(std::int64_t)> fits;
  /// Asked between batches of the walk; true ends it.
  std::function<bool()> out_of_time = [] { return false; };
};

struct Largest {
  std::int64_t largest = 0;      // 0: none was found
  std::vector<BatchRange> fits;  // inside `examined`, ascending
  BatchRange examined{0, 0};     // each of these was asked; {0, 0}: none
  std::int64_t bound = 0;        // the largest that may fit, or `most`
  bool stopped_by_most = false;
  std::optional<BatchRange> unexamined;  // above `largest`, when time ran out

  /// The next number is known not to fit.
  bool next_is_refused() const {
    return largest > 0 && !unexamined && !(stopped_by_most && largest == bound);
  }
};

/// Asks downwards from the bound until one fits, then `below` more. When time runs out `largest` is
/// found by halving instead: it fits, but larger ones were not asked. Requires most >= 1.
Largest find_largest(std::int64_t most, std::int64_t below, const Questions& questions);

}  // namespace arenagrad
