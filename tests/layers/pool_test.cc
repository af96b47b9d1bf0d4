// Max, average and adaptive average pooling: the windows that they share, and what each declares.
#include <limits>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

PoolSpec square(std::int64_t kernel, std::int64_t stride, std::int64_t padding = 0,
                bool ceil_mode = false, bool count_include_pad = true) {
  return {{{kernel, kernel}, {stride, stride}, {padding, padding}}, ceil_mode, count_include_pad};
}

List forward(const Layer& layer, const Shape& input, const List& x) {
  Values values;
  values.inputs = {x};
  Scenario scenario;
  scenario.saves = false;
  return run({layer, {input}, 1}, scenario, values).output;
}

TEST(Pool, FindsItsShapes) {
  EXPECT_EQ(output_of(*max_pool(square(3, 2, 1)), {{64, 112, 112}}), (Shape{64, 56, 56}));
  EXPECT_EQ(output_of(*max_pool(square(3, 2)), {{64, 55, 55}}), (Shape{64, 27, 27}));
  EXPECT_EQ(output_of(*max_pool(square(3, 2)), {{1, 6, 8}}), (Shape{1, 2, 3}));
  EXPECT_EQ(output_of(*max_pool(square(3, 2, 0, true)), {{1, 6, 8}}), (Shape{1, 3, 4}));
  // The fourth window along the width would start at 7, where only padding is left.
  EXPECT_EQ(output_of(*avg_pool(square(2, 2, 1, true)), {{1, 5, 6}}), (Shape{1, 3, 4}));
  EXPECT_EQ(output_of(*avg_pool(square(2, 4, 1, true)), {{1, 5, 3}}), (Shape{1, 2, 1}));
  // Rounding up lets one window hang over an input smaller than itself.
  EXPECT_EQ(output_of(*max_pool(square(3, 2, 0, true)), {{1, 2, 3}}), (Shape{1, 1, 1}));
}

TEST(Pool, RefusesWhatCannotMeet) {
  expect_error<ShapeError>(
      [] {
        output_of(*max_pool(square(3, 2)), {{1, 2, 5}});
      },
      {"max_pool", "padded input 2x5", "got kernel 3x3"});
  expect_error<ShapeError>(
      [] {
        output_of(*avg_pool(square(5, 1, 1, true)), {{1, 2, 5}});
      },
      {"avg_pool", "padded input 4x7", "got kernel 5x5"});
  expect_error<ShapeError>([] { output_of(*avg_pool(square(2, 2)), {{8}}); }, {"CxHxW", "got 8"});
  expect_error<Error>([] { max_pool(square(3, 1, 2)); }, {"half the kernel", "3x3", "got 2x2"});
  expect_error<Error>([] { max_pool(square(1 << 20, 1)); },
                      {"height times width", "1099511627776"});
  expect_error<Error>([] { avg_pool(square(2, 0)); }, {"avg_pool", "stride", "got 0"});
  expect_error<Error>([] { adaptive_avg_pool({-1, 2}); }, {"output size", "got -1"});
  expect_error<ShapeError>([] { output_of(*adaptive_avg_pool({1, 1}), {{8}}); }, {"CxHxW"});
}

TEST(MaxPool, TakesTheFirstMaximum) {
  const auto layer = max_pool(square(2, 2));
  Values values;
  values.inputs = {{5, 5, 1, 2,  //
                    5, 5, 2, 2}};
  values.output_gradient = {10, 100};
  for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
    Scenario scenario;
    scenario.policy = policy;
    const Outcome outcome = run({*layer, {{1, 2, 4}}, 1}, scenario, values);
    EXPECT_EQ(outcome.output, (List{5, 2}));
    EXPECT_EQ(outcome.input_gradients[0], (List{10, 0, 0, 100, 0, 0, 0, 0}));
    EXPECT_EQ(outcome.stashes[0], policy == SavedPolicy::lean ? (List{0, 1}) : (List{0, 3}));
  }
}

TEST(MaxPool, PaddingIsNeverTheMaximum) {
  EXPECT_EQ(forward(*max_pool(square(3, 2, 1)), {1, 2, 2}, {-4, -3, -2, -1}), (List{-1}));
  const double inf = std::numeric_limits<double>::infinity();
  Values values;
  values.inputs = {{-inf, -inf, -inf, -inf}};
  values.output_gradient = {1};
  // Even where nothing beats padding, the gradient stays inside of the input.
  const Outcome outcome = run({*max_pool(square(3, 2, 1)), {{1, 2, 2}}, 1}, {}, values);
  EXPECT_EQ(outcome.input_gradients[0], (List{1, 0, 0, 0}));
}

TEST(MaxPool, KeepsAnIndexAsNarrowAsItsWindowAllows) {
  const auto index = [](std::int64_t height, std::int64_t width, const Scenario& scenario) {
    const Needs needs =
        needs_for(*max_pool({{{height, width}}}), {{2, 20, 20}}, scenario, /*batch=*/3);
    EXPECT_EQ(needs.stashes.size(), 1u);
    EXPECT_FALSE(needs.reads_inputs[0] || needs.reads_output);
    EXPECT_EQ(needs.keeps_inputs[0], scenario.policy == SavedPolicy::pytorch);
    EXPECT_TRUE(needs.stashes[0].per_sample);
    EXPECT_EQ(needs.stashes[0].shape, (Shape{3, 2, 21 - height, 21 - width}));
    return needs.stashes[0].dtype;
  };
  EXPECT_EQ(index(2, 2, lean()), DType::u8);
  EXPECT_EQ(index(16, 16, lean()), DType::u8);
  EXPECT_EQ(index(17, 16, lean()), DType::i32);
  EXPECT_EQ(index(2, 2, lean(RunMode::eval)), DType::u8);
  EXPECT_EQ(index(2, 2, pytorch()), DType::i64);
}

TEST(AvgPool, DividesByWhatItIsToldToCount) {
  const List x{1, 2, 3, 4};  // 2x2
  EXPECT_EQ(forward(*avg_pool(square(2, 2, 1, false, true)), {1, 2, 2}, x),
            (List{0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(forward(*avg_pool(square(2, 2, 1, false, false)), {1, 2, 2}, x), (List{1, 2, 3, 4}));
  // Windows at 0 and 2 of a line of 3: the second one hangs one place over, which never counts.
  const PoolSpec line{{{1, 2}, {1, 2}}, true, true};
  EXPECT_EQ(forward(*avg_pool(line), {1, 1, 3}, {2, 4, 5}), (List{3, 5}));
}

TEST(AvgPool, KeepsNothingOrAsPytorchItsInput) {
  const auto layer = avg_pool(square(2, 2));
  Needs needs = needs_for(*layer, {{2, 6, 6}}, lean());
  EXPECT_FALSE(needs.reads_inputs[0] || needs.keeps_inputs[0] || needs.reads_output);
  EXPECT_TRUE(needs.stashes.empty());
  needs = needs_for(*layer, {{2, 6, 6}}, pytorch());
  EXPECT_FALSE(needs.reads_inputs[0]);
  EXPECT_TRUE(needs.keeps_inputs[0]);
}

TEST(AdaptiveAvgPool, CutsBinsThatMayOverlap) {
  EXPECT_EQ(output_of(*adaptive_avg_pool({0, 2}), {{3, 7, 5}}), (Shape{3, 7, 2}));
  // Five places in three bins: [0,2) [1,4) [3,5).
  EXPECT_EQ(forward(*adaptive_avg_pool({1, 3}), {1, 1, 5}, {1, 2, 3, 4, 5}), (List{1.5, 3, 4.5}));
  // Two places in three bins: [0,1) [0,2) [1,2).
  EXPECT_EQ(forward(*adaptive_avg_pool({1, 3}), {1, 1, 2}, {2, 4}), (List{2, 3, 4}));
}

TEST(AdaptiveAvgPool, KeepsItsInputAsPytorchDoesButForAMean) {
  const std::vector<Shape> inputs{{2, 6, 6}};
  EXPECT_FALSE(needs_for(*adaptive_avg_pool({3, 3}), inputs, lean()).keeps_inputs[0]);
  EXPECT_TRUE(needs_for(*adaptive_avg_pool({3, 3}), inputs, pytorch()).keeps_inputs[0]);
  EXPECT_TRUE(needs_for(*adaptive_avg_pool({1, 2}), inputs, pytorch()).keeps_inputs[0]);
  EXPECT_FALSE(needs_for(*adaptive_avg_pool({1, 1}), inputs, pytorch()).keeps_inputs[0]);
  EXPECT_FALSE(needs_for(*adaptive_avg_pool({0, 0}), {{2, 1, 1}}, pytorch()).keeps_inputs[0]);
}

TEST(AdaptiveAvgPool, IsAnAliasWhereNothingIsAveraged) {
  const std::vector<Shape> inputs{{2, 6, 6}};
  EXPECT_TRUE(needs_for(*adaptive_avg_pool({6, 0}), inputs, lean()).alias);
  EXPECT_FALSE(needs_for(*adaptive_avg_pool({6, 5}), inputs, lean()).alias);
  const Needs pytorch_needs = needs_for(*adaptive_avg_pool({6, 6}), inputs, pytorch());
  EXPECT_FALSE(pytorch_needs.alias);
  EXPECT_TRUE(pytorch_needs.keeps_inputs[0]);
}

}  // namespace
}  // namespace arenagrad::testing
