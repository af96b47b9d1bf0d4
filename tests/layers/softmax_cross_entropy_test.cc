#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;
const std::vector<Shape> kInputs{{3}, Shape{}};

/// Two samples with probabilities 1/7 2/7 4/7 and 1/4 1/4 1/2, the second with large logits.
Values known_values() {
  Values values;
  values.inputs = {{0, std::log(2.0), std::log(4.0), 900, 900, 900 + std::log(2.0)}, {1, 2}};
  values.seed = 0.5;
  return values;
}

TEST(SoftmaxCrossEntropy, GivesLossAndGradient) {
  const double loss = -std::log(2.0 / 7) - std::log(0.5);
  const List difference{1.0 / 7, 2.0 / 7 - 1, 4.0 / 7, 0.25, 0.25, 0.5 - 1};
  for (const Reduction reduction : {Reduction::mean, Reduction::sum})
    for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
      const auto layer = softmax_cross_entropy(reduction);
      Scenario scenario;
      scenario.policy = policy;
      const Outcome outcome = run({*layer, kInputs, 2}, scenario, known_values());
      const double weight = reduction == Reduction::mean ? 0.5 : 1;
      EXPECT_NEAR(outcome.output[0], weight * loss, 1e-12);
      for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(outcome.input_gradients[0][i], 0.5 * weight * difference[i], 1e-12) << i;
    }
}

TEST(SoftmaxCrossEntropy, GivesItsLossWhenNothingIsSaved) {
  const auto layer = softmax_cross_entropy(Reduction::sum);
  Scenario scenario;
  scenario.saves = false;
  EXPECT_NEAR(run({*layer, kInputs, 2}, scenario, known_values()).output[0],
              -std::log(2.0 / 7) - std::log(0.5), 1e-12);
}

TEST(SoftmaxCrossEntropy, IsALoss) {
  EXPECT_TRUE(softmax_cross_entropy(Reduction::mean)->is_loss());
  EXPECT_TRUE(softmax_cross_entropy(Reduction::mean)->loss_is_mean());
  EXPECT_FALSE(softmax_cross_entropy(Reduction::sum)->loss_is_mean());
  EXPECT_EQ(output_of(*softmax_cross_entropy(Reduction::mean), kInputs), Shape{});
}

TEST(SoftmaxCrossEntropy, KeepsProbabilitiesInPlaceOfTheLogits) {
  const Needs needs = needs_for(*softmax_cross_entropy(Reduction::mean), kInputs, lean(), 4);
  EXPECT_EQ(needs.reads_inputs, (std::vector<bool>{false, true}));
  ASSERT_EQ(needs.stashes.size(), 1u);
  EXPECT_TRUE(needs.stashes[0].replaces_input0);
  EXPECT_TRUE(needs.stashes[0].per_sample);
  EXPECT_EQ(bytes_of(needs.stashes[0]), 4u * 4 * 3);
}

TEST(SoftmaxCrossEntropy, KeepsAsPytorchATotalWeightToo) {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Needs needs = needs_for(*softmax_cross_entropy(reduction), kInputs, pytorch(), 4);
    EXPECT_EQ(needs.reads_inputs, (std::vector<bool>{false, true}));
    ASSERT_EQ(needs.stashes.size(), 2u);
    EXPECT_FALSE(needs.stashes[0].replaces_input0);
    EXPECT_EQ(bytes_of(needs.stashes[0]), 4u * 4 * 3);
    EXPECT_FALSE(needs.stashes[1].per_sample);
    EXPECT_EQ(bytes_of(needs.stashes[1]), 4u);
  }
}

TEST(SoftmaxCrossEntropy, RefusesWhatCannotMeet) {
  const auto layer = softmax_cross_entropy(Reduction::mean);
  expect_error<ShapeError>([&] { output_of(*layer, {{3, 1, 1}, Shape{}}); }, {"flatten", "3x1x1"});
  expect_error<ShapeError>([&] { output_of(*layer, {{3}, {3}}); }, {"one label", "got 3"});
  expect_error<ShapeError>([&] { output_of(*layer, {{3}}); }, {"2 inputs", "got 1"});
}

}  // namespace
}  // namespace arenagrad::testing
