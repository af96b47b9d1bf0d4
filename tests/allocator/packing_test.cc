#include "allocator/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "allocator/error.h"
#include "allocator/portfolio.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

using Problem = std::vector<Lifetime>;

Lifetime buffer(std::uint32_t id, std::size_t bytes, std::uint32_t begin, std::uint32_t end,
                std::size_t alignment = 1) {
  return {BufferId{id}, bytes, alignment, begin, end};
}

/// Parts planned one above the other, in the order they come in.
std::vector<std::vector<std::size_t>> stacked(const Packing& packing) {
  std::vector<std::vector<std::size_t>> offsets;
  for (const Part& part : packing.parts) {
    std::vector<std::uint32_t> order(part.buffers.size());
    std::iota(order.begin(), order.end(), 0u);
    offsets.push_back(drop(part, order));
  }
  return offsets;
}

TEST(Packing, ConflictsAreThoseOfTheProblem) {
  const Problem problem = load_problem("minimalloc/C.1048576.csv");
  const Packing packing = pack(problem);
  ASSERT_FALSE(packing.parts.empty());
  for (const Part& part : packing.parts) {
    for (const PackedBuffer& a : part.buffers) {
      ASSERT_LT(a.begin, a.end);
      ASSERT_LE(a.end, part.sections());
      for (const PackedBuffer& b : part.buffers) {
        const Lifetime& la = problem[a.position];
        const Lifetime& lb = problem[b.position];
        ASSERT_EQ(conflict(a, b), la.begin < lb.end && lb.begin < la.end);
      }
    }
  }
}

TEST(Packing, SectionsAreTheLargestSetsThatLiveTogether) {
  // Four begins and four ends, but only two sets that are in no other: {0, 1, 2} and {0, 3}.
  const Problem problem = {buffer(0, 1, 0, 9), buffer(1, 2, 1, 4), buffer(2, 4, 2, 5),
                           buffer(3, 8, 6, 12), buffer(4, 1, 10, 12)};
  const Packing packing = pack(problem);
  ASSERT_EQ(packing.parts.size(), 1u);
  EXPECT_EQ(packing.parts[0].totals, (std::vector<std::size_t>{7, 9, 9}));
  EXPECT_EQ(packing.bound(), 9u);
}

TEST(Packing, WhatLivesThroughGoesToTheBottom) {
  // Without the first the rest falls apart, and then the second lives through its half.
  const Problem problem = {buffer(0, 10, 0, 8), buffer(1, 5, 0, 4), buffer(2, 3, 0, 3),
                           buffer(3, 2, 1, 4), buffer(4, 7, 4, 8)};
  const Packing packing = pack(problem);
  EXPECT_EQ(packing.settled[0], 0u);
  EXPECT_EQ(packing.settled[1], 10u);
  EXPECT_EQ(packing.settled[4], 10u);
  EXPECT_EQ(packing.bound(), 20u);
  const Plan plan = assemble(packing, problem, stacked(packing));
  EXPECT_EQ(validate(problem, plan), "");
  EXPECT_EQ(plan.height, 20u);
}

TEST(Packing, UnitsAreCommonFactors) {
  EXPECT_EQ(pack(Problem{buffer(0, 6, 0, 1), buffer(1, 9, 0, 1)}).unit, 3u);
  // 512 divides all sizes, so that alignments up to it are kept by themselves.
  EXPECT_EQ(pack(Problem{buffer(0, 1000, 0, 1, 512), buffer(1, 512, 0, 1, 2)}).unit, 512u);
  // Here 64 x odd sizes and an alignment of 256 do not.
  EXPECT_EQ(pack(Problem{buffer(0, 192, 0, 1, 64), buffer(1, 256, 0, 1, 256)}).unit, 64u);
  EXPECT_EQ(pack(Problem{}).unit, 1u);
  EXPECT_THROW(pack(Problem{buffer(0, 1, 0, 1, 3)}), Error);
}

TEST(Packing, BoundsAreTheLowerBound) {
  for (const Trace& trace : all_traces()) {
    const Problem problem = trace.lifetimes();
    const Packing packing = pack(problem);
    EXPECT_EQ(packing.bound() * packing.unit, lower_bound(problem, true)) << trace.name;
    EXPECT_EQ(validate(problem, assemble(packing, problem, stacked(packing))), "") << trace.name;
  }
}

TEST(Packing, DroppedPlansAreNoHigher) {
  for (const Trace& trace : all_traces()) {
    const Problem problem = trace.lifetimes();
    const Plan plan = plan_portfolio(problem);
    const Packing packing = pack(problem);
    std::vector<std::vector<std::size_t>> offsets;
    for (const Part& part : packing.parts) {
      std::vector<std::uint32_t> order(part.buffers.size());
      std::iota(order.begin(), order.end(), 0u);
      std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return plan.offsets[part.buffers[a].position] < plan.offsets[part.buffers[b].position];
      });
      offsets.push_back(drop(part, order));
    }
    const Plan dropped = assemble(packing, problem, offsets);
    EXPECT_EQ(validate(problem, dropped), "") << trace.name;
    EXPECT_LE(dropped.height, plan.height) << trace.name;
  }
}

TEST(Packing, DeepNestsAreCheap) {
  // A stack of 30,000: one that lives through after the other.
  Problem problem;
  constexpr std::uint32_t kDepth = 30'000;
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    problem.push_back(buffer(i, 1 + i % 7, i, 2 * kDepth - i));
  }
  const Packing packing = pack(problem);
  const Plan plan = assemble(packing, problem, stacked(packing));
  EXPECT_EQ(validate(problem, plan), "");
  EXPECT_EQ(plan.height, lower_bound(problem, true));
}

}  // namespace
}  // namespace arenagrad::testing
