#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

TEST(Linear, FindsShapesParametersAndStart) {
  const Signature s = signature_of(*linear({10}), {{64}});
  EXPECT_EQ(s.output, (Shape{10}));
  ASSERT_EQ(s.parameters.size(), 2u);
  EXPECT_EQ(s.parameters[0].shape, (Shape{10, 64}));
  EXPECT_EQ(s.parameters[1].shape, (Shape{10}));
  EXPECT_DOUBLE_EQ(s.parameters[0].init.scale, 0.125);
  EXPECT_DOUBLE_EQ(s.parameters[1].init.scale, 0.125);
  EXPECT_EQ(s.multiply_adds, 640);
  const Signature bare = signature_of(*linear({10, false, {InitRule::Kind::normal, 0.01}}), {{64}});
  ASSERT_EQ(bare.parameters.size(), 1u);
  EXPECT_EQ(bare.parameters[0].init.scale, 0.01);
  const Signature kaiming =
      signature_of(*linear({8, true, {InitRule::Kind::kaiming_fan_out}}), {{3}});
  EXPECT_DOUBLE_EQ(kaiming.parameters[0].init.scale, std::sqrt(2 / 8.0));
}

TEST(Linear, ReadsItsInputInBothPolicies) {
  for (const Scenario& scenario : {lean(), pytorch(), lean(RunMode::eval)}) {
    const Needs needs = needs_for(*linear({3}), {{5}}, scenario);
    EXPECT_TRUE(needs.reads_inputs[0]);
    EXPECT_FALSE(needs.reads_output);
    EXPECT_TRUE(needs.stashes.empty());
  }
}

TEST(Linear, Computes) {
  Values values;
  values.inputs = {{1, 2, 3, 4}};
  values.parameters = {{1, 10, 0, -1, 2, 2}, {0.5, 0.25, 0}};
  Scenario scenario;
  scenario.saves = false;
  const auto layer = linear({3});
  EXPECT_EQ(run({*layer, {{2}}, 2}, scenario, values).output,
            (std::vector<double>{21.5, -1.75, 6, 43.5, -3.75, 14}));
}

TEST(Linear, RefusesWhatCannotMeet) {
  expect_error<ShapeError>([] { output_of(*linear({3}), {{4, 2, 2}}); }, {"flatten", "4x2x2"});
  expect_error<ShapeError>([] { output_of(*linear({3}), {}); }, {"expected 1 input", "got 0"});
  expect_error<Error>([] { linear({0}); }, {"out_features", "got 0"});
}

}  // namespace
}  // namespace arenagrad::testing
