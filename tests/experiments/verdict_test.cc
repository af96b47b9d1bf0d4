#include "experiments/verdict.h"

#include <gtest/gtest.h>

#include <limits>

namespace arenagrad {
namespace {

constexpr auto f32 = DType::f32, f64 = DType::f64;

TEST(Verdict, TheToleranceDecides) {
  EXPECT_EQ(judge({.rel_l2 = 1e-5}, f32), Verdict::equal);
  EXPECT_EQ(judge({.rel_l2 = 1.1e-5}, f32), Verdict::different);
  EXPECT_EQ(judge({.rel_l2 = 1e-11}, f64), Verdict::equal);
  EXPECT_EQ(judge({.rel_l2 = 1e-6}, f64), Verdict::different);
}

TEST(Verdict, FlipsAskForARerunInF64) {
  Evidence evidence{.rel_l2 = 1e-3, .flips = 5};
  EXPECT_TRUE(wants_f64(evidence, f32));
  EXPECT_EQ(judge(evidence, f32), Verdict::different);  // as long as there is none
  evidence.rel_l2_f64 = 1e-12;
  EXPECT_FALSE(wants_f64(evidence, f32));
  EXPECT_EQ(judge(evidence, f32), Verdict::equal_up_to_flips);
  evidence.rel_l2_f64 = 1e-10;
  EXPECT_EQ(judge(evidence, f32), Verdict::different);
}

TEST(Verdict, WithoutFlipsOrInF64ThereIsNothingToRerun) {
  EXPECT_FALSE(wants_f64({.rel_l2 = 1e-3}, f32));
  EXPECT_FALSE(wants_f64({.rel_l2 = 1e-6, .flips = 5}, f32));
  EXPECT_FALSE(wants_f64({.rel_l2 = 1e-3, .flips = 5}, f64));
  EXPECT_FALSE(wants_f64({.rel_l2 = 1e-3, .flips = 5, .same_computation = false}, f32));
  // An f64 result can't excuse a difference that no flip explains.
  EXPECT_EQ(judge({.rel_l2 = 1e-3, .rel_l2_f64 = 0}, f32), Verdict::different);
}

TEST(Verdict, DifferentComputationsAreNotJudged) {
  EXPECT_EQ(judge({.rel_l2 = 0.5, .same_computation = false}, f32), Verdict::not_the_same);
  EXPECT_EQ(judge({.rel_l2 = 1e-7, .same_computation = false}, f32), Verdict::equal);
}

TEST(Verdict, WhatIsNotFiniteIsDifferent) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge({.rel_l2 = nan, .finite = false, .flips = 1, .same_computation = false}, f32),
            Verdict::different);
  EXPECT_EQ(judge({.rel_l2 = nan}, f32), Verdict::different);
}

TEST(Verdict, Words) {
  EXPECT_EQ(text(Verdict::equal, 0), "equal");
  EXPECT_EQ(text(Verdict::equal_up_to_flips, 5), "equal up to 5 flips");
  EXPECT_EQ(text(Verdict::equal_up_to_flips, 1), "equal up to 1 flip");
  EXPECT_EQ(text(Verdict::different, 3), "different");
  EXPECT_EQ(text(Verdict::not_the_same, 3), "not the same computation");
}

}  // namespace
}  // namespace arenagrad
