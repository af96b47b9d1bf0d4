#include <gtest/gtest.h>

#include "allocator/offline.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

Lifetime buffer(std::uint32_t id, std::size_t bytes, std::uint32_t begin, std::uint32_t end,
                std::size_t alignment = 1) {
  return {BufferId{id}, bytes, alignment, begin, end};
}

TEST(Validate, ValidPlans) {
  EXPECT_EQ(validate({}, {}), "");
  const std::vector<Lifetime> problem = {buffer(0, 10, 0, 5), buffer(1, 10, 5, 9),
                                         buffer(2, 10, 0, 9), buffer(3, 10, 3, 3)};
  // 0 and 1 share bytes: one dies when the other is born. 3 never lives.
  EXPECT_EQ(validate(problem, {{0, 0, 10, 5}, 20}), "");
  const std::vector<Lifetime> known = load_problem("minimalloc/input.12.csv");
  EXPECT_EQ(validate(known, {{8, 8, 4, 4, 0}, 12}), "");
}

TEST(Validate, CountOfOffsets) {
  const std::vector<Lifetime> problem = {buffer(0, 10, 0, 5)};
  EXPECT_EQ(validate(problem, {{}, 0}), "expected 1 offsets, got 0");
  EXPECT_EQ(validate(problem, {{0, 0}, 10}), "expected 1 offsets, got 2");
}

TEST(Validate, Overlap) {
  const std::vector<Lifetime> problem = {buffer(4, 10, 0, 5), buffer(7, 10, 4, 9)};
  EXPECT_EQ(validate(problem, {{0, 9}, 19}),
            "buffer 4 at [0, 10) and buffer 7 at [9, 19) overlap while both are live from 4 to 5");
  EXPECT_EQ(validate(problem, {{9, 0}, 19}),
            "buffer 4 at [9, 19) and buffer 7 at [0, 10) overlap while both are live from 4 to 5");
  EXPECT_EQ(validate(problem, {{0, 10}, 20}), "");
}

TEST(Validate, OneInsideTheOther) {
  const std::vector<Lifetime> problem = {buffer(0, 100, 0, 5), buffer(1, 10, 1, 2)};
  EXPECT_NE(validate(problem, {{0, 50}, 100}), "");
  EXPECT_NE(validate(problem, {{0, 0}, 100}), "");
  const std::vector<Lifetime> reversed = {buffer(0, 10, 0, 5), buffer(1, 100, 1, 2)};
  EXPECT_NE(validate(reversed, {{50, 0}, 100}), "");
}

TEST(Validate, RoundedBytesMayNotOverlapEither) {
  const std::vector<Lifetime> problem = {buffer(0, 10, 0, 5, 64), buffer(1, 10, 0, 5, 8)};
  EXPECT_NE(validate(problem, {{0, 16}, 64}), "");
  EXPECT_EQ(validate(problem, {{0, 64}, 80}), "");
}

TEST(Validate, Alignment) {
  const std::vector<Lifetime> problem = {buffer(3, 10, 0, 5, 16)};
  EXPECT_EQ(validate(problem, {{8}, 24}), "buffer 3: offset 8 is no multiple of 16");
  const std::vector<Lifetime> crooked = {buffer(3, 10, 0, 5, 12)};
  EXPECT_EQ(validate(crooked, {{0}, 12}), "buffer 3: alignment 12 is no power of two");
}

TEST(Validate, Height) {
  const std::vector<Lifetime> problem = {buffer(0, 10, 0, 5, 4)};
  EXPECT_EQ(validate(problem, {{4}, 16}), "");
  EXPECT_EQ(validate(problem, {{4}, 14}),
            "expected height 16, the top of the highest buffer, got 14");
  EXPECT_NE(validate(problem, {{4}, 20}), "");
}

TEST(Validate, LifetimesThatEndBeforeTheyBegin) {
  const std::vector<Lifetime> problem = {buffer(2, 10, 5, 4)};
  EXPECT_EQ(validate(problem, {{0}, 10}), "buffer 2: lives from 5 to 4");
}

TEST(Validate, SumsBeyond64Bits) {
  const std::size_t huge = ~std::size_t{0} - 5;
  EXPECT_NE(validate(std::vector{buffer(0, 10, 0, 1)}, {{huge}, 4}), "");
  EXPECT_NE(validate(std::vector{buffer(0, huge, 0, 1, 64)}, {{0}, 0}), "");
}

// Moves each buffer of a valid plan onto each one that lives with it.
TEST(Validate, FindsEveryCollision) {
  const std::vector<Lifetime> problem = random_trace(5, 60, 500, 4, 4).lifetimes();
  const Plan plan = plan_greedy_size(problem);
  ASSERT_EQ(validate(problem, plan), "");
  int tried = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (std::size_t j = 0; j < problem.size(); ++j) {
      if (i == j || problem[i].end <= problem[j].begin || problem[j].end <= problem[i].begin) {
        continue;
      }
      Plan broken = plan;
      broken.offsets[i] = plan.offsets[j];
      broken.height = 0;
      for (std::size_t k = 0; k < problem.size(); ++k) {
        broken.height = std::max(broken.height, broken.offsets[k] + round_up(problem[k].bytes, 4));
      }
      EXPECT_NE(validate(problem, broken), "") << i << " on " << j;
      ++tried;
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(LowerBound, MostLiveBytesAtOnce) {
  EXPECT_EQ(lower_bound({}, false), 0u);
  const std::vector<Lifetime> problem = {buffer(0, 10, 0, 5, 16), buffer(1, 20, 5, 9, 16),
                                         buffer(2, 7, 4, 6, 16), buffer(3, 1000, 3, 3, 16)};
  EXPECT_EQ(lower_bound(problem, false), 27u);  // 1 and 2: 0 has made room
  EXPECT_EQ(lower_bound(problem, true), 48u);
}

TEST(LowerBound, OfKnownProblems) {
  EXPECT_EQ(lower_bound(load_problem("minimalloc/A.1048576.csv"), false), 1048576u);
  EXPECT_EQ(lower_bound(load_problem("minimalloc/C.1048576.csv"), false), 1039360u);
  EXPECT_EQ(lower_bound(load_problem("minimalloc/D.1048576.csv"), false), 986112u);
  EXPECT_EQ(lower_bound(load_problem("idealloc/resnet50.csv"), false), 1515472556u);
  EXPECT_EQ(lower_bound(load_problem("idealloc/G_1.csv"), false), 3030937746u);
}

}  // namespace
}  // namespace arenagrad::testing
