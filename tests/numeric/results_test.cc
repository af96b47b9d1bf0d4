#include "tests/numeric/results.h"

#include <gtest/gtest.h>

#include <limits>

namespace arenagrad::numeric {
namespace {

Results gradient(std::vector<double> values) {
  return {{Kind::gradient, {{"w", {std::move(values)}}}}};
}

TEST(Results, TheLimitIsRelativeToTheTensorsLargestValue) {
  const Results expected = gradient({0, -1000, 1});
  EXPECT_TRUE(compare(expected, gradient({0.009, -1000, 1.009}), DType::f32).failures.empty());
  const Comparison off = compare(expected, gradient({0, -1000, 1.011}), DType::f32);
  ASSERT_EQ(off.failures.size(), 1u);
  EXPECT_NE(off.failures[0].find("gradients w[2]: expected 1, got 1.01"), std::string::npos)
      << off.failures[0];
  EXPECT_NEAR(off.worst.at(Kind::gradient).error, 1.1e-5, 1e-9);
}

TEST(Results, DoubleIsHeldToDoubleLimits) {
  EXPECT_TRUE(compare(gradient({1}), gradient({1 + 0.9e-11}), DType::f64).failures.empty());
  EXPECT_EQ(compare(gradient({1}), gradient({1 + 1.1e-11}), DType::f64).failures.size(), 1u);
  const Results after{{Kind::parameter_after2, {{"w", {{1.0}}}}}};
  const Results close{{Kind::parameter_after2, {{"w", {{1 + 0.9e-10}}}}}};
  EXPECT_TRUE(compare(after, close, DType::f64).failures.empty());
}

TEST(Results, WhatWasStoredAsFloatIsRounded) {
  Results expected = gradient({1.0f});
  expected[Kind::gradient]["w"].stored_as_f32 = true;
  EXPECT_TRUE(compare(expected, gradient({1 + 0x0.fp-24}), DType::f64).failures.empty());
  EXPECT_EQ(compare(expected, gradient({1 + 0x1.1p-24}), DType::f64).failures.size(), 1u);
}

TEST(Results, WhatIsMissingOrOfAnotherSizeFails) {
  EXPECT_EQ(compare(gradient({1, 2}), {}, DType::f32).failures.size(), 1u);
  EXPECT_EQ(compare(gradient({1, 2}), gradient({1}), DType::f32).failures.size(), 1u);
  Results other = gradient({1, 2});
  other[Kind::gradient]["unasked"] = {{3}};
  EXPECT_TRUE(compare(gradient({1, 2}), other, DType::f32).failures.empty());
}

TEST(Results, NotANumberNeverPasses) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compare(gradient({1, 2}), gradient({nan, 2}), DType::f32).failures.size(), 1u);
  EXPECT_EQ(compare(gradient({1, nan}), gradient({1, 2}), DType::f32).failures.size(), 1u);
  EXPECT_EQ(compare(gradient({0, 0}), gradient({0, nan}), DType::f32).failures.size(), 1u);
}

TEST(Results, AllZeroMeansAllZero) {
  EXPECT_TRUE(compare(gradient({0, 0}), gradient({0, 0}), DType::f32).failures.empty());
  EXPECT_EQ(compare(gradient({0, 0}), gradient({0, 1e-30}), DType::f32).failures.size(), 1u);
}

TEST(Results, ZeroUpToRoundingIsMeasuredAgainstItsKind) {
  Results expected{{Kind::gradient, {{"w", {{2.0}}}, {"b", {{1e-8}}}}}};
  Results got{{Kind::gradient, {{"w", {{2.0}}}, {"b", {{-3e-8}}}}}};
  const Comparison in_single = compare(expected, got, DType::f32);
  EXPECT_TRUE(in_single.failures.empty());
  EXPECT_EQ(in_single.zeros.at(Kind::gradient), 1u);
  // In double the same numbers are far above rounding.
  EXPECT_EQ(compare(expected, got, DType::f64).failures.size(), 1u);
  // One side alone being small is a difference.
  got[Kind::gradient]["b"] = {{1e-3}};
  EXPECT_EQ(compare(expected, got, DType::f32).failures.size(), 1u);
}

}  // namespace
}  // namespace arenagrad::numeric
