#include <cmath>
#include <limits>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

Outcome run_one(const Layer& layer, const List& x, const Scenario& scenario = {}) {
  Values values;
  values.inputs = {x};
  values.output_gradient = List(x.size(), 1);
  return run({layer, {Shape{static_cast<std::int64_t>(x.size())}}, 1}, scenario, values);
}

TEST(Relu, IsFlatAtItsKinks) {
  const double above = std::nextafter(0.0, 1.0), below_six = std::nextafter(6.0, 0.0);
  for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
    Scenario scenario;
    scenario.policy = policy;
    const Outcome plain = run_one(*relu(), {-1, 0, -0.0, above, 6, 100}, scenario);
    EXPECT_EQ(plain.output, (List{0, 0, 0, above, 6, 100}));
    EXPECT_EQ(plain.input_gradients[0], (List{0, 0, 0, 1, 1, 1}));
    const Outcome capped = run_one(*relu6(), {-1, 0, above, below_six, 6, 100}, scenario);
    EXPECT_EQ(capped.output, (List{0, 0, above, below_six, 6, 6}));
    EXPECT_EQ(capped.input_gradients[0], (List{0, 0, 1, 1, 0, 0}));
  }
}

TEST(Relu, LetsNanThrough) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run_one(*relu(), {nan}).output[0]));
  EXPECT_TRUE(std::isnan(run_one(*relu6(), {nan}).output[0]));
}

TEST(Relu, KeepsItsOutputAndMayRunInPlace) {
  for (const Scenario& scenario : {lean(), pytorch(), lean(RunMode::eval)}) {
    const Needs needs = needs_for(*relu(), {{3, 4, 4}}, scenario);
    EXPECT_TRUE(needs.reads_output);
    EXPECT_FALSE(needs.reads_inputs[0]);
    EXPECT_TRUE(needs.forward_in_place);
    EXPECT_TRUE(needs.backward_in_place);
  }
  EXPECT_TRUE(needs_for(*relu6(), {{3, 4, 4}}, lean()).forward_in_place);
  EXPECT_TRUE(needs_for(*relu6(), {{3, 4, 4}}, lean()).reads_output);
}

TEST(Relu6, KeepsItsInputAsPytorchDoes) {
  const Needs needs = needs_for(*relu6(), {{3, 4, 4}}, pytorch());
  EXPECT_TRUE(needs.reads_inputs[0]);
  EXPECT_FALSE(needs.reads_output);
  EXPECT_FALSE(needs.forward_in_place);
}

TEST(Relu, TakesOneInput) {
  expect_error<ShapeError>([] { output_of(*relu6(), {{3}, {3}}); }, {"relu6", "1 input", "got 2"});
  EXPECT_EQ(relu()->op(), "relu");
}

}  // namespace
}  // namespace arenagrad::testing
