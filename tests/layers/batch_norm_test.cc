#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

/// Two channels of two samples of two places.
Values small_values() {
  Values values;
  values.inputs = {{1, 3, 10, 10, 5, 7, 20, 40}};
  values.parameters = {{2, 1}, {0.5, -1}};
  values.states = {{1, 2}, {3, 4}, {7}};
  values.output_gradient = List(8, 1);
  return values;
}
const std::vector<Shape> kInputs{{2, 2}};

/// Takes no scratch, and no more than 24 elements.
class SmallPlanner final : public KernelPlanner {
 public:
  ConvChoice convolution(const ConvProblem&, ConvPass, Write) const override { return {}; }
  std::size_t linear_workspace(const LinearProblem&, ConvPass) const override { return 0; }
  std::size_t batch_norm_workspace(const BatchNormProblem&, bool) const override { return 0; }
  std::int64_t most_batch_norm_elements() const override { return 24; }
};

TEST(BatchNorm, TakesWhatTheDeviceTakes) {
  const SmallPlanner planner;
  Profile profile;
  profile.kernels = &planner;
  const std::vector<Shape> inputs{{2, 2, 2}};
  const auto needs_at = [&](std::int64_t batch, RunMode mode) {
    batch_norm({})->needs({.batch = batch,
                           .inputs = inputs,
                           .output = inputs[0],
                           .dtype = DType::f32,
                           .mode = mode,
                           .policy = SavedPolicy::lean,
                           .profile = profile,
                           .input_needs_gradient = {true}});
  };
  needs_at(3, RunMode::train);
  expect_error<ShapeError>([&] { needs_at(4, RunMode::train); },
                           {"at most 24 elements", "got 32 (batch 4, input 2x2x2 per sample)"});
  needs_at(4, RunMode::eval);  // by kernels of our own
}

TEST(BatchNorm, HasParametersAndState) {
  const Signature s = signature_of(*batch_norm({}), {{5, 3, 3}});
  EXPECT_EQ(s.output, (Shape{5, 3, 3}));
  ASSERT_EQ(s.parameters.size(), 2u);
  EXPECT_EQ(s.parameters[0].name, "weight");
  EXPECT_EQ(s.parameters[0].init.scale, 1);
  EXPECT_EQ(s.parameters[1].name, "bias");
  EXPECT_EQ(s.parameters[1].init.scale, 0);
  ASSERT_EQ(s.states.size(), 3u);
  EXPECT_EQ(s.states[0].name, "running_mean");
  EXPECT_EQ(s.states[0].initial, 0);
  EXPECT_EQ(s.states[1].name, "running_var");
  EXPECT_EQ(s.states[1].initial, 1);
  EXPECT_EQ(s.states[2].name, "num_batches_tracked");
  EXPECT_EQ(s.states[2].dtype, DType::i64);
  EXPECT_EQ(s.states[2].shape.elements(), 1);
}

TEST(BatchNorm, NormalisesByBatchStatisticsAndUpdatesRunningOnes) {
  const auto layer = batch_norm({0, 0.1});
  Scenario scenario;
  scenario.updates_state = true;
  Outcome outcome = run({*layer, kInputs, 2}, scenario, small_values());
  // Channel 0: 1 3 5 7, mean 4, variance 5. Channel 1: 10 10 20 40, mean 20, variance 150.
  const double a = 2 / std::sqrt(5.0), b = 1 / std::sqrt(150.0);
  const List expected{-3 * a + 0.5, -a + 0.5,    -10 * b - 1, -10 * b - 1,
                      a + 0.5,      3 * a + 0.5, -1,          20 * b - 1};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(outcome.output[i], expected[i], 1e-14) << i;
  EXPECT_NEAR(outcome.states[0][0], 0.9 * 1 + 0.1 * 4, 1e-14);
  EXPECT_NEAR(outcome.states[0][1], 0.9 * 2 + 0.1 * 20, 1e-14);
  // The unbiased variance: 4/3 of the biased one.
  EXPECT_NEAR(outcome.states[1][0], 0.9 * 3 + 0.1 * 5 * 4 / 3, 1e-14);
  EXPECT_NEAR(outcome.states[1][1], 0.9 * 4 + 0.1 * 200, 1e-13);
  EXPECT_EQ(outcome.states[2], List{8});
  EXPECT_NEAR(outcome.stashes[0][0], 4, 1e-14);
  EXPECT_NEAR(outcome.stashes[1][0], 1 / std::sqrt(5.0), 1e-14);
}

TEST(BatchNorm, TakesAnotherMomentumWhenTold) {
  const auto layer = batch_norm({0, 0.1});
  for (const bool saves : {true, false}) {
    Scenario scenario;
    scenario.updates_state = true;
    scenario.momentum = 1;
    scenario.saves = saves;
    const Outcome outcome = run({*layer, kInputs, 2}, scenario, small_values());
    EXPECT_NEAR(outcome.states[0][1], 20, 1e-13);
    EXPECT_NEAR(outcome.states[1][1], 200, 1e-12);
  }
}

TEST(BatchNorm, LeavesStateAloneWhenNotUpdating) {
  const auto layer = batch_norm({0, 0.1});
  for (const RunMode mode : {RunMode::train, RunMode::eval}) {
    Scenario scenario;
    scenario.mode = mode;
    const Values values = small_values();
    EXPECT_EQ(run({*layer, kInputs, 2}, scenario, values).states, values.states);
  }
}

TEST(BatchNorm, NormalisesByRunningStatisticsInEval) {
  const auto layer = batch_norm({1, 0.1});
  Scenario scenario;
  scenario.mode = RunMode::eval;
  const Outcome outcome = run({*layer, kInputs, 2}, scenario, small_values());
  EXPECT_NEAR(outcome.output[1], 2 * (3 - 1) / std::sqrt(3.0 + 1) + 0.5, 1e-14);
  EXPECT_NEAR(outcome.output[7], (40 - 2) / std::sqrt(4.0 + 1) - 1, 1e-14);
}

TEST(BatchNorm, DeclaresItsPolicies) {
  const auto layer = batch_norm({});
  for (const Scenario& scenario : {lean(), pytorch()}) {
    const Needs needs = needs_for(*layer, {{5, 3, 3}}, scenario);
    EXPECT_TRUE(needs.reads_inputs[0]);
    EXPECT_FALSE(needs.reads_output);
    EXPECT_FALSE(needs.samples_independent);
    ASSERT_EQ(needs.stashes.size(), 2u);
    for (const StashSpec& stash : needs.stashes) {
      EXPECT_EQ(stash.shape, (Shape{5}));
      EXPECT_EQ(stash.dtype, DType::f32);
      EXPECT_FALSE(stash.per_sample);
    }
  }
  for (const Scenario& scenario : {lean(RunMode::eval), pytorch(RunMode::eval)}) {
    const Needs needs = needs_for(*layer, {{5, 3, 3}}, scenario);
    EXPECT_TRUE(needs.reads_inputs[0]);
    EXPECT_TRUE(needs.samples_independent);
    EXPECT_TRUE(needs.stashes.empty());
  }
}

TEST(BatchNorm, RefusesWhatCannotMeet) {
  const auto layer = batch_norm({});
  expect_error<Error>(
      [&] {
        needs_for(*layer, {{5, 1, 1}}, lean(), 1);
      },
      {"more than one value per channel", "5x1x1"});
  EXPECT_NO_THROW(needs_for(*layer, {{5, 1, 1}}, lean(), 2));
  EXPECT_NO_THROW(needs_for(*layer, {{5, 1, 1}}, lean(RunMode::eval), 1));
  EXPECT_NO_THROW(needs_for(*layer, {{5, 1, 2}}, lean(), 1));
  expect_error<ShapeError>([&] { output_of(*layer, {Shape{}}); }, {"batch_norm", "scalar"});
  expect_error<Error>([] { batch_norm({-1, 0.1}); }, {"eps", "-1"});
  expect_error<Error>([] { batch_norm({1e-5, 1.5}); }, {"momentum", "1.5"});
  expect_error<Error>([] { batch_norm({std::nan(""), 0.1}); }, {"eps", "nan"});
}

}  // namespace
}  // namespace arenagrad::testing
