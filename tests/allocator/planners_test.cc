// What every planner promises, and how low each gets.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <set>

#include "allocator/error.h"
#include "allocator/planner.h"
#include "allocator/strategy.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

using Problem = std::vector<Lifetime>;

constexpr std::uint64_t kUnlimitedSteps = std::numeric_limits<std::uint64_t>::max();

class Planners : public ::testing::TestWithParam<std::string> {
 protected:
  const PlannerInfo& info() const { return find_planner(GetParam()); }
  Solution solve(const Problem& problem, std::uint64_t steps) const {
    return info().solve(problem, {steps}, {});
  }
};

TEST_P(Planners, AreValidAndDoNotPassTheirBound) {
  for (const Trace& trace : all_traces()) {
    const Problem problem = trace.lifetimes();
    const Solution solution = solve(problem, 2000);
    EXPECT_EQ(validate(problem, solution.plan), "") << trace.name;
    EXPECT_GE(solution.bound, lower_bound(problem, true)) << trace.name;
    EXPECT_GE(solution.plan.height, solution.bound) << trace.name;
    EXPECT_EQ(solution.optimal, solution.plan.height == solution.bound) << trace.name;
    EXPECT_FALSE(solution.truncated) << trace.name;
    EXPECT_LE(solution.steps_used, 2000u) << trace.name;
  }
}

TEST_P(Planners, MixedAlignments) {
  Problem problem = random_trace(5, 200, 3000, 1, 0).lifetimes();
  for (std::size_t i = 0; i < problem.size(); ++i) problem[i].alignment = std::size_t{1} << i % 11;
  const Solution solution = solve(problem, 3000);
  EXPECT_EQ(validate(problem, solution.plan), "");
  EXPECT_GE(solution.bound, lower_bound(problem, true));
}

TEST_P(Planners, AreAFunctionOfTheProblemAndTheSteps) {
  const Problem problem = load_problem("minimalloc/A.1048576.csv");
  const Solution once = solve(problem, 3000);
  const Solution again = solve(problem, 3000);
  EXPECT_EQ(once.plan.offsets, again.plan.offsets);
  EXPECT_EQ(once.bound, again.bound);
  EXPECT_EQ(once.steps_used, again.steps_used);
  // A clock that is never reached changes nothing.
  const Solution timed = info().solve(problem, {3000, 3600.0}, {});
  EXPECT_EQ(once.plan.offsets, timed.plan.offsets);
  EXPECT_FALSE(timed.truncated);
}

TEST_P(Planners, NothingToPlan) {
  const Solution solution = solve({}, 100);
  EXPECT_TRUE(solution.optimal);
  EXPECT_EQ(solution.plan.height, 0u);
}

TEST_P(Planners, TheLeadingGapIsAGap) {
  const Problem problem = {
      {BufferId{0}, 100, 1, 0, 2}, {BufferId{1}, 80, 1, 1, 3}, {BufferId{2}, 60, 1, 2, 4}};
  const Solution solution = solve(problem, 100);
  EXPECT_EQ(solution.plan.height, 180u);
  EXPECT_TRUE(solution.optimal);
}

TEST_P(Planners, AreStrategies) {
  const StrategyInfo& strategy = find_strategy(info().name);
  EXPECT_TRUE(strategy.offline);
  const Problem problem = load_problem("minimalloc/input.12.csv");
  SimulatedDriver driver(kUnlimited, 1);
  const auto made = strategy.make({driver, 1, problem});
  const Plan plan = info().solve(problem, info().default_budget(), {}).plan;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (problem[i].begin > 0) continue;
    const Placement placement = made->place({problem[i].id, problem[i].bytes, 1, Category{}});
    EXPECT_EQ(placement.offset, plan.offsets[i]);
  }
}

std::vector<std::string> planner_names() {
  std::vector<std::string> names;
  for (const PlannerInfo& info : planners()) names.emplace_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Planners, ::testing::ValuesIn(planner_names()),
                         [](const auto& instance) {
                           std::string name = instance.param.substr(instance.param.find(':') + 1);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PlannerTable, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const PlannerInfo& info : planners()) {
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_EQ(&find_planner(info.name), &info);
    EXPECT_EQ(&find_planner(info.name.substr(5)), &info);
  }
  EXPECT_THROW(find_planner("plan:perfect"), Error);
}

TEST(LongSearches, StopWithTheClock) {
  const Problem problem = load_problem("minimalloc/D.1048576.csv");
  for (const char* name : {"search", "exact"}) {
    const Solution solution = find_planner(name).solve(problem, {kUnlimitedSteps, 0.05}, {});
    EXPECT_TRUE(solution.truncated) << name;
    EXPECT_FALSE(solution.optimal) << name;
    EXPECT_EQ(validate(problem, solution.plan), "") << name;
  }
}

// The bound of this one is out of their reach, the capacity that it is published with is not.
TEST(LongSearches, EndWithWhatIsEnough) {
  constexpr std::size_t kCapacity = 1'048'576;
  const Problem problem = load_problem("minimalloc/D.1048576.csv");
  for (const char* name : {"search", "exact"}) {
    const auto solve = [&](std::size_t enough) {
      return find_planner(name).solve(problem, {.steps = 30'000, .enough = enough}, {});
    };
    const Solution solution = solve(kCapacity);
    EXPECT_EQ(validate(problem, solution.plan), "") << name;
    EXPECT_LE(solution.plan.height, kCapacity) << name;
    EXPECT_LT(solution.steps_used, 30'000u) << name;
    EXPECT_FALSE(solution.truncated) << name;
    EXPECT_FALSE(solution.optimal) << name;
    EXPECT_EQ(solve(kCapacity).plan.offsets, solution.plan.offsets) << name;
    EXPECT_GT(solve(0).plan.height, kCapacity) << name << ": it does not come this far by itself";
    EXPECT_EQ(solve(4 * kCapacity).steps_used, 0u) << name << ": the portfolio's plan will do";
  }
}

TEST(LongSearches, StopWhenTold) {
  const Problem problem = load_problem("minimalloc/D.1048576.csv");
  for (const char* name : {"search", "exact"}) {
    std::atomic<bool> stop{true};
    Watch watch;
    watch.interrupt = &stop;
    const Solution solution = find_planner(name).solve(problem, {kUnlimitedSteps}, watch);
    EXPECT_TRUE(solution.truncated) << name;
    EXPECT_LE(solution.steps_used, 1000u) << name;
    EXPECT_EQ(validate(problem, solution.plan), "") << name;
  }
}

TEST(LongSearches, TellHowFarTheyAre) {
  const Problem problem = load_problem("minimalloc/D.1048576.csv");
  for (const char* name : {"search", "exact"}) {
    std::vector<std::uint64_t> steps;
    std::vector<std::size_t> heights;
    Watch watch;
    watch.progress = [&](std::uint64_t at, std::size_t height) {
      steps.push_back(at);
      heights.push_back(height);
    };
    const Solution solution = find_planner(name).solve(problem, {40'000}, watch);
    ASSERT_GE(steps.size(), 2u) << name;
    EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end())) << name;
    EXPECT_TRUE(std::is_sorted(heights.rbegin(), heights.rend())) << name;
    EXPECT_LE(solution.plan.height, heights.back()) << name;
  }
}

TEST(LongSearches, LargeProblemsPassThrough) {
  // Steps cost more there, and no search keeps a table of pairs.
  const Problem problem = random_trace(6, 9'000, std::size_t{1} << 20, 512, 40).lifetimes();
  for (const char* name : {"search", "exact"}) {
    const Solution solution = find_planner(name).solve(problem, {500}, {});
    EXPECT_EQ(validate(problem, solution.plan), "") << name;
    EXPECT_LE(solution.steps_used, 500u) << name;
  }
}

struct Height {
  const char* path;
  const char* planner;
  std::size_t height;
  double most;  // in percent above the bound
};

TEST(Heights, WithDefaultBudgets) {
  const Height heights[] = {
      {"idealloc/resnet50.csv", "greedy-size", 1525964460, 0.7},
      {"idealloc/resnet50.csv", "greedy-size-first", 1525214892, 0.7},
      {"idealloc/resnet50.csv", "portfolio", 1520092676, 0.31},
      {"idealloc/resnet50.csv", "search", 1515472556, 0},
      {"idealloc/resnet50.csv", "exact", 1515472556, 0},
      {"idealloc/G_1.csv", "greedy-size-first", 3039277202, 0.28},
      {"idealloc/G_1.csv", "portfolio", 3030937746, 0},
      {"minimalloc/K.1048576.csv", "search", 1048576, 0},
      {"minimalloc/C.1048576.csv", "exact", 1039360, 0},
  };
  for (const Height& expected : heights) {
    const Problem problem = load_problem(expected.path);
    const PlannerInfo& planner = find_planner(expected.planner);
    const Solution solution = planner.solve(problem, planner.default_budget(), {});
    EXPECT_EQ(solution.plan.height, expected.height) << expected.path << " " << planner.name;
    EXPECT_LE(static_cast<double>(solution.plan.height),
              static_cast<double>(lower_bound(problem, false)) * (1 + expected.most / 100));
  }
}

}  // namespace
}  // namespace arenagrad::testing
