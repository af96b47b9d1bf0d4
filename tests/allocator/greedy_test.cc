#include "allocator/greedy.h"

#include <gtest/gtest.h>

#include <numeric>

#include "allocator/portfolio.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

using Problem = std::vector<Lifetime>;
using Positions = std::vector<std::size_t>;

Lifetime buffer(std::uint32_t id, std::size_t bytes, std::uint32_t begin, std::uint32_t end,
                std::size_t alignment = 1) {
  return {BufferId{id}, bytes, alignment, begin, end};
}

constexpr Order kOrders[] = {Order::size,    Order::lifetime, Order::area,
                             Order::breadth, Order::start,    Order::conflicts};

TEST(Greedy, Orders) {
  // Live bytes: 8 at 0, 8 + 5 at 1 and 2, 5 + 4 at 3, 4 at 4, 4 + 6 at 5.
  const Problem problem = {buffer(0, 8, 0, 3), buffer(1, 5, 1, 4), buffer(2, 4, 3, 9),
                           buffer(3, 6, 5, 6)};
  EXPECT_EQ(ordered(problem, Order::size), (Positions{0, 3, 1, 2}));
  EXPECT_EQ(ordered(problem, Order::lifetime), (Positions{2, 0, 1, 3}));
  EXPECT_EQ(ordered(problem, Order::area), (Positions{0, 2, 1, 3}));
  EXPECT_EQ(ordered(problem, Order::breadth), (Positions{0, 1, 3, 2}));
  EXPECT_EQ(ordered(problem, Order::start), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(ordered(problem, Order::conflicts), (Positions{1, 2, 0, 3}));
}

TEST(Greedy, TiesGoToTheEarlierBeginThenToThePosition) {
  const Problem problem = {buffer(0, 4, 5, 7), buffer(1, 4, 2, 4), buffer(2, 4, 2, 4)};
  for (const Order order : kOrders) EXPECT_EQ(ordered(problem, order), (Positions{1, 2, 0}));
}

TEST(Greedy, BestAndFirstGap) {
  // Holes of 6 at 4 and of 3 at 14 are left when the last one comes.
  const Problem problem = {buffer(0, 4, 0, 9), buffer(1, 6, 0, 1), buffer(2, 4, 0, 9),
                           buffer(3, 3, 0, 1), buffer(4, 2, 0, 9), buffer(5, 3, 4, 9)};
  const Positions order = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(place_in_order(problem, order, GapRule::best).offsets.back(), 14u);
  EXPECT_EQ(place_in_order(problem, order, GapRule::first).offsets.back(), 4u);
}

TEST(Greedy, TheLeadingGapIsAGap) {
  const Problem problem = {buffer(0, 100, 0, 2), buffer(1, 80, 1, 3), buffer(2, 60, 2, 4)};
  for (const GapRule rule : {GapRule::best, GapRule::first}) {
    EXPECT_EQ(place_in_order(problem, ordered(problem, Order::size), rule).height, 180u);
  }
}

TEST(Greedy, SizeAndBestGapIsTheOldestPlanner) {
  for (const Trace& trace : all_traces()) {
    const Problem problem = trace.lifetimes();
    EXPECT_EQ(place_in_order(problem, ordered(problem, Order::size), GapRule::best).offsets,
              plan_greedy_size(problem).offsets)
        << trace.name;
  }
}

TEST(Greedy, EveryOrderIsValid) {
  for (const Trace& trace : all_traces()) {
    const Problem problem = trace.lifetimes();
    for (const Order order : kOrders) {
      for (const GapRule rule : {GapRule::best, GapRule::first}) {
        EXPECT_EQ(validate(problem, place_in_order(problem, ordered(problem, order), rule)), "");
      }
    }
  }
}

TEST(Portfolio, KeepsTheLowest) {
  for (const char* path : {"minimalloc/A.1048576.csv", "idealloc/G_1.csv"}) {
    const Problem problem = load_problem(path);
    std::size_t lowest = plan_greedy_size(problem).height;
    for (const Order order : kOrders) {
      for (const GapRule rule : {GapRule::best, GapRule::first}) {
        lowest = std::min(lowest, place_in_order(problem, ordered(problem, order), rule).height);
      }
    }
    EXPECT_EQ(plan_portfolio(problem).height, lowest);
  }
}

TEST(Portfolio, NothingToPlan) {
  EXPECT_EQ(plan_portfolio({}).height, 0u);
  const Problem empty = {buffer(0, 0, 0, 4), buffer(1, 7, 3, 3)};
  EXPECT_EQ(validate(empty, plan_portfolio(empty)), "");
}

}  // namespace
}  // namespace arenagrad::testing
