#include "allocator/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

using Problem = std::vector<Lifetime>;

Solution solve(const Problem& problem, std::uint64_t steps = 2'000'000) {
  return solve_exact(problem, {steps}, {});
}

/// The lowest plan there is. Any plan can be let fall, lowest buffer first, without getting higher,
/// so that some order of stacking gives it.
std::size_t lowest_of_all_orders(const Problem& problem) {
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> offsets(problem.size());
  std::size_t lowest = ~std::size_t{0};
  do {
    std::size_t height = 0;
    for (std::size_t k = 0; k < order.size() && height < lowest; ++k) {
      const Lifetime& a = problem[order[k]];
      std::size_t below = 0;
      for (std::size_t j = 0; j < k; ++j) {
        const Lifetime& b = problem[order[j]];
        if (a.begin >= b.end || b.begin >= a.end) continue;
        below = std::max(below, offsets[order[j]] + round_up(b.bytes, b.alignment));
      }
      offsets[order[k]] = round_up(below, a.alignment);
      height = std::max(height, offsets[order[k]] + round_up(a.bytes, a.alignment));
    }
    lowest = std::min(lowest, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return lowest;
}

Problem tiny_problem(std::mt19937& random) {
  const std::uint32_t times = 2 + random() % 10;
  const std::uint32_t largest = 1 + random() % 12;
  const std::uint32_t alignments = random() % 3;  // none, all the same, mixed
  Problem problem(2 + random() % 6);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Lifetime& l = problem[i];
    l.id = BufferId{static_cast<std::uint32_t>(i)};
    l.bytes = 1 + random() % largest;
    l.alignment = alignments == 0 ? 1 : alignments == 1 ? 4 : std::size_t{1} << random() % 4;
    l.begin = random() % times;
    l.end = l.begin + 1 + random() % (times - l.begin);
  }
  return problem;
}

TEST(Exact, FindsAndProvesWhatAllOrdersGive) {
  std::mt19937 random(7);
  int above_the_bound = 0;
  for (int i = 0; i < 3000; ++i) {
    const Problem problem = tiny_problem(random);
    const std::size_t lowest = lowest_of_all_orders(problem);
    const Solution solution = solve(problem);
    ASSERT_EQ(validate(problem, solution.plan), "") << "problem " << i;
    ASSERT_EQ(solution.plan.height, lowest) << "problem " << i;
    ASSERT_TRUE(solution.optimal) << "problem " << i;
    ASSERT_EQ(solution.bound, lowest) << "problem " << i;
    above_the_bound += lowest > lower_bound(problem, true);
  }
  EXPECT_GE(above_the_bound, 3);  // or impossibility is not tested
}

TEST(Exact, DecidesWhetherWhatIsEnoughCanBeHad) {
  std::mt19937 random(10);
  int stopped_early = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem = tiny_problem(random);
    const std::size_t lowest = lowest_of_all_orders(problem);
    for (const std::size_t enough : {lowest - 1, lowest, lowest + 1, lowest + 7}) {
      const Solution solution = solve_exact(problem, {.steps = 2'000'000, .enough = enough}, {});
      ASSERT_EQ(validate(problem, solution.plan), "") << "problem " << i;
      ASSERT_LE(solution.plan.height, std::max(enough, lowest)) << "problem " << i;
      ASSERT_LE(solution.bound, lowest) << "problem " << i;
      ASSERT_FALSE(solution.truncated);
      if (enough < lowest) {
        ASSERT_TRUE(solution.optimal) << "problem " << i;
      }
      stopped_early += solution.plan.height > lowest;
    }
  }
  EXPECT_GE(stopped_early, 3);
}

TEST(Exact, BoundsAreNeverAboveTheLowestPlan) {
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = tiny_problem(random);
    const std::size_t lowest = lowest_of_all_orders(problem);
    for (const std::uint64_t steps : {0, 1, 3, 10, 30}) {
      const Solution solution = solve(problem, steps);
      ASSERT_LE(solution.bound, lowest) << "problem " << i << ", " << steps << " steps";
      ASSERT_GE(solution.plan.height, lowest);
      ASSERT_EQ(solution.optimal, solution.plan.height == solution.bound);
      ASSERT_LE(solution.steps_used, steps);
      ASSERT_FALSE(solution.truncated);
    }
  }
}

TEST(Exact, ProvesThatTheBoundIsOutOfReach) {
  // At most 4 bytes live at once, but no plan is lower than 5: by the test above, of all orders.
  std::mt19937 random(9);
  Problem problem = tiny_problem(random);
  while (lowest_of_all_orders(problem) == lower_bound(problem, true)) {
    problem = tiny_problem(random);
  }
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.optimal);
  EXPECT_GT(solution.bound, lower_bound(problem, true));
  EXPECT_EQ(solution.plan.height, solution.bound);
}

TEST(Exact, ReachesTheBoundOfRealTapes) {
  for (const char* path : {"minimalloc/C.1048576.csv", "minimalloc/K.1048576.csv",
                           "idealloc/G_1.csv", "idealloc/resnet50.csv"}) {
    const Problem problem = load_problem(path);
    const Solution solution = solve(problem, 20'000);
    EXPECT_EQ(validate(problem, solution.plan), "") << path;
    EXPECT_EQ(solution.plan.height, lower_bound(problem, false)) << path;
    EXPECT_TRUE(solution.optimal) << path;
  }
}

TEST(Exact, SizesOfAnyWidth) {
  // The same problem in units that need 16, 32 and 64 bits, with a size prime to all others.
  const Problem problem = load_problem("minimalloc/C.1048576.csv");
  for (const std::size_t factor : {std::size_t{1}, std::size_t{1} << 12, std::size_t{1} << 28}) {
    Problem scaled = problem;
    for (Lifetime& l : scaled) l.bytes *= factor;
    scaled.push_back({BufferId{9999}, 1, 1, 0, problem.front().end});
    const Solution solution = solve(scaled, 100'000);
    EXPECT_EQ(validate(scaled, solution.plan), "");
    EXPECT_GE(solution.plan.height, lower_bound(scaled, false));
    EXPECT_LE(solution.plan.height, 1'048'577 * factor);
  }
}

TEST(Exact, WhatNeverLivesAndWhatIsEmpty) {
  const Problem problem = {
      {BufferId{0}, 0, 1, 0, 4}, {BufferId{1}, 700, 8, 3, 3}, {BufferId{2}, 10, 8, 0, 4}};
  const Solution solution = solve(problem);
  EXPECT_EQ(validate(problem, solution.plan), "");
  EXPECT_TRUE(solution.optimal);
  EXPECT_EQ(solution.plan.height, 704u);
  EXPECT_TRUE(solve({}).optimal);
}

}  // namespace
}  // namespace arenagrad::testing
