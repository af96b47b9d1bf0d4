#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

Outcome run_ones(double p, std::int64_t elements, const Scenario& scenario = {}) {
  Values values;
  values.inputs = {List(static_cast<std::size_t>(2 * elements), 1)};
  values.output_gradient = values.inputs[0];
  return run({*dropout(p), {{elements}}, 2}, scenario, values);
}

TEST(Dropout, DropsTheAskedShareAndScalesTheRest) {
  constexpr std::int64_t kElements = 20000;
  for (const double p : {0.2, 0.5, 0.9}) {
    const Outcome outcome = run_ones(p, kElements);
    double dropped = 0;
    for (const double y : outcome.output) {
      EXPECT_TRUE(y == 0 || std::abs(y - 1 / (1 - p)) < 1e-12) << y;
      dropped += y == 0;
    }
    // Five standard deviations of a binomial share.
    EXPECT_NEAR(dropped / (2 * kElements), p, 5 * std::sqrt(p * (1 - p) / (2 * kElements)));
    EXPECT_EQ(outcome.input_gradients[0], outcome.output);  // the same mask
  }
}

TEST(Dropout, GivesEachSampleAMaskOfItsOwn) {
  const List y = run_ones(0.5, 64).output;
  EXPECT_NE(List(y.begin(), y.begin() + 64), List(y.begin() + 64, y.end()));
}

TEST(Dropout, IsAnAliasWhenItDropsNothing) {
  EXPECT_TRUE(needs_for(*dropout(0.5), {{8}}, lean(RunMode::eval)).alias);
  EXPECT_TRUE(needs_for(*dropout(0.5), {{8}}, pytorch(RunMode::eval)).alias);
  EXPECT_TRUE(needs_for(*dropout(0.5), {{8}}, lean(RunMode::no_grad)).alias);
  EXPECT_TRUE(needs_for(*dropout(0), {{8}}, pytorch()).alias);
  EXPECT_FALSE(needs_for(*dropout(0.5), {{8}}, lean()).alias);
}

TEST(Dropout, KeepsNothingOrAsPytorchItsMask) {
  EXPECT_TRUE(needs_for(*dropout(0.5), {{8}}, lean()).stashes.empty());
  Scenario scenario = pytorch();
  Needs needs = needs_for(*dropout(0.5), {{8}}, scenario, 3);
  ASSERT_EQ(needs.stashes.size(), 1u);
  EXPECT_EQ(bytes_of(needs.stashes[0]), 4u * 3 * 8);
  EXPECT_TRUE(needs.stashes[0].per_sample);
  scenario.mask_is_float = false;
  needs = needs_for(*dropout(0.5), {{8}}, scenario, 3);
  EXPECT_EQ(bytes_of(needs.stashes[0]), 3u * 8);
  for (const bool reads : needs.reads_inputs) EXPECT_FALSE(reads);
  EXPECT_FALSE(needs.reads_output);
}

TEST(Dropout, RefusesImpossibleShares) {
  expect_error<Error>([] { dropout(1); }, {"below 1", "got 1"});
  expect_error<Error>([] { dropout(-0.1); }, {"dropout", "-0.1"});
  expect_error<Error>([] { dropout(std::nan("")); }, {"nan"});
}

}  // namespace
}  // namespace arenagrad::testing
