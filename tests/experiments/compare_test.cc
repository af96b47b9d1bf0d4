#include "experiments/compare.h"

#include <gtest/gtest.h>

#include <set>

#include "experiments/data_feed.h"
#include "experiments/recorder.h"
#include "experiments/run.h"
#include "tests/experiments/small_models.h"
#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;

TEST(Compare, WithoutCoupledLayersAllModesAreEqual) {
  const auto model = small_net(false);
  const auto result = compare(model, small_settings(), {});
  ASSERT_EQ(result.modes.size(), 3u);
  ASSERT_EQ(result.pairs.size(), 3u);
  for (const auto& pair : result.pairs) {
    EXPECT_EQ(pair.verdict, Verdict::equal);
    EXPECT_TRUE(pair.same_computation);
    EXPECT_GT(pair.gradient.cosine, 0.999999);
  }
  EXPECT_TRUE(result.coupled_layers.empty());
  EXPECT_FALSE(result.failed());
  EXPECT_TRUE(result.everything_fitted());
  ASSERT_EQ(result.against_f64.size(), 3u);
  std::set<GradientMode> truths;
  for (const auto& entry : result.against_f64) {
    truths.insert(entry.reference_mode);
    EXPECT_GT(entry.gradient.rel_l2, 0);
    EXPECT_LT(entry.gradient.rel_l2, 1e-5);
  }
  EXPECT_EQ(truths.size(), 1u);  // one f64 run serves all
  EXPECT_TRUE(result.closest);
  EXPECT_GT(result.reference_bytes, 0u);
}

TEST(Compare, InF64TheModesAreEqualToItsTolerance) {
  auto settings = small_settings();
  settings.plan.dtype = DType::f64;
  const auto result = compare(small_net(false), settings, {});
  for (const auto& pair : result.pairs) EXPECT_LE(pair.gradient.rel_l2, 1e-11);
  EXPECT_FALSE(result.failed());
  EXPECT_TRUE(result.against_f64.empty());
  EXPECT_EQ(result.no_reference, "the run is in f64 itself");
}

TEST(Compare, BatchNormInTrainModeIsNamedAndNotJudged) {
  const auto result = compare(small_net(true), small_settings(), {});
  EXPECT_EQ(result.coupled_layers, std::vector<std::string>{"bn1"});
  ASSERT_EQ(result.pairs.size(), 3u);
  EXPECT_EQ(result.pairs[0].verdict, Verdict::not_the_same);
  EXPECT_GT(result.pairs[0].gradient.rel_l2, 1e-3);
  EXPECT_GT(result.pairs[0].states.rel_l2, 1e-3);
  EXPECT_EQ(result.pairs[1].verdict, Verdict::not_the_same);
  // The same micro-batches: the same statistics, the same gradient, the same running statistics.
  EXPECT_EQ(result.pairs[2].verdict, Verdict::equal);
  EXPECT_TRUE(result.pairs[2].same_computation);
  EXPECT_EQ(result.pairs[2].states.max_abs, 0);
  EXPECT_FALSE(result.failed());
  // Each computation has a truth of its own.
  EXPECT_EQ(result.against_f64[0].reference_mode, GradientMode::full_batch);
  EXPECT_EQ(result.against_f64[2].reference_mode, GradientMode::per_step);
  for (const auto& entry : result.against_f64) EXPECT_LT(entry.gradient.rel_l2, 1e-4);
  // conv1's bias feeds batch norm: its gradient is zero, and what is there is rounding.
  EXPECT_EQ(result.pairs[2].gradient.zero_up_to_rounding, std::vector<std::string>{"conv1.bias"});
}

TEST(Compare, BatchNormOverOneMicroBatchOrInEvalModeIsComparable) {
  auto settings = small_settings();
  settings.plan.batching = {4, 4};
  for (const auto& pair : compare(small_net(true), settings, {}).pairs)
    EXPECT_EQ(pair.verdict, Verdict::equal);
  settings = small_settings();
  settings.plan.run = RunMode::eval;
  settings.plan.calibrate = true;
  const auto result = compare(small_net(true), settings, {});
  EXPECT_TRUE(result.coupled_layers.empty());
  for (const auto& pair : result.pairs) {
    EXPECT_EQ(pair.verdict, Verdict::equal);
    EXPECT_EQ(pair.states.max_abs, 0);  // calibrated on the same samples
  }
}

TEST(Compare, AModeThatDoesNotFitIsPartOfTheResult) {
  const auto model = small_net(false);
  auto settings = small_settings();
  const auto bytes = [&](GradientMode mode) {
    return run_dry(model, in_mode(settings, mode)).measurement.bytes.footprint;
  };
  ASSERT_LT(bytes(GradientMode::per_step), bytes(GradientMode::full_batch));
  settings.capacity = bytes(GradientMode::full_batch) - 1;
  const auto result = compare(model, settings, {});
  EXPECT_FALSE(result.everything_fitted());
  EXPECT_TRUE(result.modes[0].out_of_memory);
  EXPECT_TRUE(result.modes[2].measurement);
  for (const auto& pair : result.pairs) EXPECT_NE(pair.a, GradientMode::full_batch);
  for (const auto& entry : result.against_f64) EXPECT_NE(entry.mode, GradientMode::full_batch);
}

/// As on a GPU that has room for f32 alone.
TEST(Compare, AReferenceThatDoesNotFitIsDoneWithout) {
  const auto model = small_net(false);
  auto settings = small_settings();
  std::size_t most = 0;
  for (const auto mode : modes_to_compare(model))
    most = std::max(most, run_dry(model, in_mode(settings, mode)).measurement.bytes.footprint);
  settings.profile.capacity = most;
  const auto result = compare(model, settings, {.reference = Reference::f64});
  EXPECT_TRUE(result.everything_fitted());
  EXPECT_TRUE(result.against_f64.empty());
  EXPECT_FALSE(result.closest);
  EXPECT_NE(result.no_reference.find("in f64"), std::string::npos) << result.no_reference;
}

TEST(Compare, TheReferenceIsMadeForSmallModelsOrWhenAskedFor) {
  const auto model = small_net(false);
  const auto settings = small_settings();
  EXPECT_TRUE(compare(model, settings, {.reference = Reference::none}).against_f64.empty());
  EXPECT_EQ(compare(model, settings, {.reference = Reference::f64}).against_f64.size(), 3u);
  EXPECT_LT(estimated_cost(model.tape, 5, 1), kSmallCost);
  EXPECT_EQ(estimated_cost(model.tape, 10, 3), 6 * estimated_cost(model.tape, 5, 1));
  EXPECT_EQ(estimated_cost(model.tape, std::int64_t{1} << 62, 4),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Compare, SettingsThatCannotBeComparedAreRefused) {
  auto settings = small_settings();
  settings.plan.run = RunMode::no_grad;
  EXPECT_EQ(test::message_of([&] { compare(small_net(false), settings, {}); }),
            "compare: expected a run with gradients, got no-grad");
  EXPECT_EQ(test::message_of([&] {
              compare(small_net(false), small_settings(), {.modes = {GradientMode::per_step}});
            }),
            "compare: expected at least two modes, got one");
}

TEST(Compare, CurvesAreComparedStepByStep) {
  const auto d = curve_difference({1, 2, 4}, {1, 2.5, 4.4});
  EXPECT_DOUBLE_EQ(d.max_relative, 0.2);
  EXPECT_EQ(d.step, 2);
  EXPECT_EQ(curve_difference({1, 2}, {1}).max_relative, 0);
}

/// Two runs that differ in their parameters take different branches; a run and itself do not.
TEST(Branches, CountsFlips) {
  const auto model = small_net(false);
  Recorder one, same, other;
  auto settings = small_settings();
  run_real(model, settings, {.observer = &one});
  settings.plan.mode = GradientMode::per_step;
  run_real(model, settings, {.observer = &same});
  settings.seed = 1;
  run_real(model, settings, {.observer = &other});
  EXPECT_EQ(one.branches().flips(same.branches()), 0u);
  const auto flips = one.branches().flips(other.branches());
  // relu1: 5 x 36, pool1: 5 x 9, relu2: 6 a sample: 231 choices, of which many but not all differ.
  EXPECT_GT(flips, 5u * 231 / 10);
  EXPECT_LT(flips, 5u * 231 * 9 / 10);
  EXPECT_EQ(flips, other.branches().flips(one.branches()));
}

TEST(Recorder, HoldsNoMoreThanForetold) {
  const auto model = small_net(true);
  const auto experiment = prepare(model, small_settings());
  Recorder recorder;
  run_real(model, small_settings(), {.observer = &recorder});
  EXPECT_EQ(recorder.gradients().size(), model.tape.parameters().size());
  EXPECT_EQ(recorder.states().size(), 2u);  // mean and variance, not the counter
  // Branches are rounded up to words, node by node.
  EXPECT_LE(recorder.bytes(), recorded_bytes(experiment.program, model.tape) + 3 * 8);
}

TEST(Compare, TheDigitsAgreeInAllModes) {
  const auto model = load_model(test::zoo("lenet5_digits"));
  DataFeed feed(read_labelled_images(test::digits("train-images-idx3-ubyte"),
                                     test::digits("train-labels-idx1-ubyte"), model.classes),
                model.tape.tensor(model.samples.front()).shape);
  Settings settings;
  settings.plan.batching = {64, 7};
  settings.plan.optimizer = {
      .kind = OptimizerSpec::Kind::sgd, .learning_rate = 0.1, .momentum = 0.9};
  settings.steps = 140;
  settings.threads = 1;
  const auto result = compare(model, settings, {.reference = Reference::none, .feed = &feed});
  EXPECT_FALSE(result.failed());
  for (const auto& pair : result.pairs) {
    EXPECT_EQ(pair.verdict, Verdict::equal);
    EXPECT_LT(pair.losses.max_relative, 1e-2);
  }
  for (const auto& mode : result.modes)
    EXPECT_LT(mode.measurement->losses.back(), 0.7 * mode.measurement->losses.front());
}

}  // namespace
}  // namespace arenagrad
