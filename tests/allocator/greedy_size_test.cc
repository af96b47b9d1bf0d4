#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "allocator/offline.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

using Problem = std::vector<Lifetime>;

Lifetime buffer(std::uint32_t id, std::size_t bytes, std::uint32_t begin, std::uint32_t end,
                std::size_t alignment = 1) {
  return {BufferId{id}, bytes, alignment, begin, end};
}

/// The rule of the header, word for word, in quadratic time.
Plan plan_plainly(const Problem& problem) {
  const auto size = [&](std::size_t i) { return round_up(problem[i].bytes, problem[i].alignment); };
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size(a) != size(b) ? size(a) > size(b) : problem[a].begin < problem[b].begin;
  });
  Plan plan{std::vector<std::size_t>(problem.size()), 0};
  std::vector<std::size_t> placed;  // ascending by offset
  for (const std::size_t i : order) {
    std::size_t top = 0, best = 0, best_gap = 0;
    for (const std::size_t j : placed) {
      if (std::max(problem[i].begin, problem[j].begin) >=
          std::min(problem[i].end, problem[j].end)) {
        continue;
      }
      const std::size_t start = round_up(top, problem[i].alignment);
      const std::size_t next = plan.offsets[j];
      if (next > top && start + size(i) <= next && (best_gap == 0 || next - top < best_gap)) {
        best = start;
        best_gap = next - top;
      }
      top = std::max(top, next + size(j));
    }
    plan.offsets[i] = best_gap > 0 ? best : round_up(top, problem[i].alignment);
    plan.height = std::max(plan.height, plan.offsets[i] + size(i));
    const auto at = std::find_if(placed.begin(), placed.end(),
                                 [&](std::size_t j) { return plan.offsets[j] > plan.offsets[i]; });
    placed.insert(at, i);
  }
  return plan;
}

TEST(GreedySize, TheLeadingGapIsAGap) {
  // A and B overlap, B and C overlap, A and C do not: C belongs beneath B.
  const Problem problem = {buffer(0, 100, 0, 2), buffer(1, 80, 1, 3), buffer(2, 60, 2, 4)};
  const Plan plan = plan_greedy_size(problem);
  EXPECT_EQ(plan.height, 180u);
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{0, 100, 0}));
  EXPECT_EQ(validate(problem, plan), "");
}

TEST(GreedySize, SmallestGapThenLowest) {
  // Live for good with gaps of 40, 25 and 25 between them, once the fillers are gone.
  const Problem problem = {buffer(0, 1000, 0, 9), buffer(1, 40, 0, 1),  buffer(2, 900, 0, 9),
                           buffer(3, 25, 0, 1),   buffer(4, 800, 0, 9), buffer(5, 20, 2, 9)};
  const Plan plan = plan_greedy_size(problem);
  EXPECT_EQ(validate(problem, plan), "");
  EXPECT_EQ(plan.offsets[5], 2700u) << "above the long-lived ones, where the fillers were";
}

TEST(GreedySize, TiesGoByBeginThenPosition) {
  const Problem problem = {buffer(0, 10, 5, 9), buffer(1, 10, 0, 9), buffer(2, 10, 5, 9)};
  EXPECT_EQ(plan_greedy_size(problem).offsets, (std::vector<std::size_t>{10, 0, 20}));
}

TEST(GreedySize, AlignsEachOffset) {
  const Problem problem = {buffer(0, 100, 0, 2, 64), buffer(1, 100, 0, 2, 64),
                           buffer(2, 3, 0, 2, 4)};
  const Plan plan = plan_greedy_size(problem);
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{0, 128, 256}));
  EXPECT_EQ(plan.height, 260u);
}

TEST(GreedySize, NothingToPlan) {
  const Plan plan = plan_greedy_size({});
  EXPECT_EQ(plan.height, 0u);
  EXPECT_EQ(validate({}, plan), "");
}

TEST(GreedySize, SizesBeyond32Bits) {
  const std::size_t huge = std::size_t{1} << 40;
  const Problem problem = {buffer(0, huge, 0, 2), buffer(1, huge, 1, 3), buffer(2, huge, 2, 4)};
  EXPECT_EQ(plan_greedy_size(problem).height, 2 * huge);
}

TEST(GreedySize, FollowsItsRuleExactly) {
  std::vector<Problem> problems;
  for (const Trace& trace : all_traces()) problems.push_back(trace.lifetimes());
  for (std::uint32_t seed = 50; seed < 70; ++seed) {
    problems.push_back(random_trace(seed, 250, seed % 2 == 0 ? 20 : 4000, 8, 5).lifetimes());
  }
  for (const char* name : {"minimalloc/B.1048576.csv", "minimalloc/K.1048576.csv",
                           "idealloc/G_1.csv", "idealloc/resnet50.csv"}) {
    problems.push_back(load_problem(name));
  }
  // Mixed alignments, and lifetimes of no time.
  Problem mixed = random_trace(99, 200, 3000, 1, 0).lifetimes();
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    mixed[i].alignment = std::size_t{1} << i % 9;
    if (i % 17 == 0) mixed[i].end = mixed[i].begin;
  }
  problems.push_back(mixed);
  for (const Problem& problem : problems) {
    const Plan plan = plan_greedy_size(problem);
    const Plan plain = plan_plainly(problem);
    ASSERT_EQ(plan.offsets, plain.offsets);
    ASSERT_EQ(plan.height, plain.height);
    ASSERT_EQ(validate(problem, plan), "");
    ASSERT_GE(plan.height, lower_bound(problem, true));
  }
}

struct Height {
  const char* problem;
  std::size_t height;
};

TEST(GreedySize, HeightsOfKnownProblems) {
  const Height heights[] = {
      {"minimalloc/input.12.csv", 12},       {"minimalloc/A.1048576.csv", 1374208},
      {"minimalloc/B.1048576.csv", 1412096}, {"minimalloc/C.1048576.csv", 1417216},
      {"minimalloc/D.1048576.csv", 1315840}, {"minimalloc/E.1048576.csv", 1469440},
      {"minimalloc/F.1048576.csv", 1441792}, {"minimalloc/G.1048576.csv", 1396736},
      {"minimalloc/H.1048576.csv", 1421312}, {"minimalloc/I.1048576.csv", 1478656},
      {"minimalloc/J.1048576.csv", 1333248}, {"minimalloc/K.1048576.csv", 1391616},
      {"idealloc/G_1.csv", 3030940307},      {"idealloc/resnet50.csv", 1525964460}};
  for (const auto& [name, height] : heights) {
    const Problem problem = load_problem(name);
    const Plan plan = plan_greedy_size(problem);
    EXPECT_EQ(validate(problem, plan), "") << name;
    EXPECT_EQ(plan.height, height) << name;
    // The published figures of this rule: 31 to 41 % above the bound on the hard ones.
    const double ratio =
        static_cast<double>(plan.height) / static_cast<double>(lower_bound(problem, true));
    EXPECT_LT(ratio, 1.4105) << name;
  }
}

}  // namespace
}  // namespace arenagrad::testing
