// The search alone, against asking every number.
#include "experiments/largest.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace arenagrad {
namespace {

using Numbers = std::set<std::int64_t>;

std::vector<BatchRange> ranges_of(const Numbers& numbers) {
  std::vector<BatchRange> ranges;
  for (const auto n : numbers)
    if (!ranges.empty() && ranges.back().second + 1 == n)
      ranges.back().second = n;
    else
      ranges.push_back({n, n});
  return ranges;
}

TEST(Largest, IsWhatAskingEveryNumberFinds) {
  std::mt19937 draw(7);
  for (int round = 0; round < 500; ++round) {
    const auto up_to = [&](std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(0, most)(draw);
    };
    const auto most = 1 + up_to(60), bound = up_to(70), below = up_to(5);
    Numbers fitting;
    for (std::int64_t n = 1; n <= std::min(most, bound); ++n)
      if (up_to(2) == 0) fitting.insert(n);
    std::int64_t asked_fits_beyond = 0;
    const auto found = find_largest(most, below,
                                    {[&](std::int64_t n) { return n <= bound; },
                                     [&](std::int64_t n) {
                                       asked_fits_beyond += n > bound || n > most || n < 1;
                                       return fitting.contains(n);
                                     }});
    EXPECT_EQ(found.largest, fitting.empty() ? 0 : *fitting.rbegin()) << round;
    EXPECT_EQ(found.bound, std::min(most, bound)) << round;
    EXPECT_EQ(found.stopped_by_most, bound >= most) << round;
    EXPECT_EQ(asked_fits_beyond, 0) << round;
    EXPECT_FALSE(found.unexamined) << round;
    Numbers inside;
    for (const auto n : fitting)
      if (n >= found.examined.first && n <= found.examined.second) inside.insert(n);
    EXPECT_EQ(found.fits, ranges_of(inside)) << round;
    EXPECT_EQ(found.examined.second, found.bound) << round;
    if (found.largest == 0) continue;
    EXPECT_EQ(found.examined.first, std::max<std::int64_t>(1, found.largest - below)) << round;
  }
}

TEST(Largest, SaysWhatWasNotAskedWhenTimeRunsOut) {
  int left = 3;
  const auto found =
      find_largest(100, 0,
                   {[](std::int64_t n) { return n <= 80; }, [](std::int64_t n) { return n <= 30; },
                    [&] { return left-- == 0; }});
  EXPECT_EQ(found.examined, BatchRange(78, 80));
  EXPECT_EQ(found.largest, 19);  // 77 / 2 / 2
  EXPECT_EQ(found.unexamined, BatchRange(20, 77));
}

TEST(Largest, MayBeNone) {
  const auto never = [](std::int64_t) { return false; };
  const auto found = find_largest(5, 2, {never, never});
  EXPECT_EQ(found.largest, 0);
  EXPECT_EQ(found.bound, 0);
  EXPECT_TRUE(found.fits.empty());
}

}  // namespace
}  // namespace arenagrad
