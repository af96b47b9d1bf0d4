#include "experiments/experiment.h"

#include <gtest/gtest.h>

#include <numeric>

#include "experiments/layer_table.h"
#include "experiments/run.h"
#include "tests/experiments/small_models.h"
#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;

constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                   GradientMode::per_step};

TEST(Experiment, TheBytesOfADryRunFitTogether) {
  const auto model = small_net(true);
  for (const auto mode : kModes) {
    auto settings = small_settings(mode);
    settings.plan.optimizer = {.kind = OptimizerSpec::Kind::adam};
    settings.steps = 2;
    const auto m = run_dry(model, settings).measurement;
    const auto& bytes = m.bytes;
    EXPECT_TRUE(m.balanced) << name(mode);
    EXPECT_FALSE(m.planned_equals_observed);
    EXPECT_EQ(std::accumulate(bytes.by_category_at_peak.begin(), bytes.by_category_at_peak.end(),
                              std::size_t{0}),
              bytes.peak_requested);
    EXPECT_EQ(bytes.peak_requested, bytes.lower_bound);
    EXPECT_EQ(bytes.peak_granted, bytes.aligned_bound);
    EXPECT_LE(bytes.aligned_bound, bytes.footprint);
    EXPECT_LE(bytes.footprint, bytes.reserved);
    EXPECT_EQ(bytes.unaccounted, 0u);
    const auto parameters = static_cast<std::size_t>(m.parameters) * 4;
    // Parameters, two moments each, running statistics of 5 channels and a counter.
    EXPECT_EQ(bytes.persistent, parameters * 3 + 2 * 5 * 4 + 8);
    const std::int64_t samples = mode == GradientMode::per_step ? 2 : 5;
    EXPECT_EQ(bytes.saved,
              bytes.saved_per_sample * static_cast<std::size_t>(samples) + bytes.saved_fixed);
  }
}

TEST(Experiment, TheLargestBuffersComeInOrderWithTheirLives) {
  const auto model = small_net(false);
  auto settings = small_settings();
  settings.top = 4;
  const auto m = run_dry(model, settings).measurement;
  ASSERT_EQ(m.top.size(), 4u);
  for (std::size_t i = 1; i < m.top.size(); ++i) EXPECT_GE(m.top[i - 1].bytes, m.top[i].bytes);
  settings.top = 1000;
  const auto all = run_dry(model, settings).measurement;
  std::size_t sum = 0;
  bool found = false;
  for (const auto& buffer : all.top) {
    sum += buffer.bytes;
    if (buffer.name != "conv1.weight") continue;
    found = true;
    EXPECT_EQ(buffer.shape, (Shape{5, 2, 3, 3}));
    EXPECT_EQ(buffer.born, "setup");
    EXPECT_EQ(buffer.dies, "teardown");
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(sum, all.bytes.peak_requested);
  EXPECT_EQ(all.peak_at.step, 1);
  EXPECT_EQ(all.peak_at.phase, "backward");
  EXPECT_FALSE(all.peak_at.layer.empty());
}

TEST(Experiment, ARealRunHasThePlannedLedgerInEveryModeAndStrategy) {
  const auto model = small_net(true);
  for (const auto mode : kModes)
    for (const auto& strategy : strategies()) {
      auto settings = small_settings(mode);
      settings.strategy = strategy.name;
      settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
      settings.steps = 4;
      const auto run = run_real(model, settings, {});
      EXPECT_TRUE(run.planned == run.observed) << name(mode) << " " << strategy.name;
      EXPECT_EQ(run.measurement.planned_equals_observed, true);
      EXPECT_TRUE(run.measurement.balanced);
      EXPECT_EQ(run.measurement.losses.size(), 4u);
      EXPECT_EQ(run.measurement.backend, "cpu");
      EXPECT_GT(run.measurement.seconds->step_median, 0);
    }
}

TEST(Experiment, TheSameRunTwiceIsTheSame) {
  const auto model = small_net(false);
  auto settings = small_settings(GradientMode::per_step);
  settings.plan.optimizer.kind = OptimizerSpec::Kind::sgd;
  settings.steps = 3;
  const auto one = run_real(model, settings, {}).measurement;
  settings.threads = 2;
  const auto other = run_real(model, settings, {}).measurement;
  EXPECT_EQ(one.losses, other.losses);
  EXPECT_EQ(one.digest, other.digest);
}

TEST(Experiment, MediansLeaveTheFirstStepOut) {
  const std::vector<StepTimes> times = {
      {100, 100, 100, 300}, {1, 4, 7, 12}, {3, 6, 9, 18}, {2, 5, 8, 15}, {4, 7, 10, 21}};
  const auto s = medians(times);
  EXPECT_EQ(s.forward, 2.5);
  EXPECT_EQ(s.backward, 5.5);
  EXPECT_EQ(s.update, 8.5);
  EXPECT_EQ(s.step_median, 16.5);
  EXPECT_EQ(medians({{1, 2, 3, 6}}).step_median, 6);
  EXPECT_EQ(medians({}).step_median, 0);
}

TEST(Experiment, InterruptedRunsEnd) {
  const std::atomic<bool> interrupted{true};
  EXPECT_THROW(run_real(small_net(false), small_settings(), {.interrupted = &interrupted}),
               Interrupted);
}

TEST(LayerTable, CountsWhatEachLayerMakesAndKeeps) {
  const auto model = small_net(true);
  const auto experiment = prepare(model, small_settings());
  const auto table = layer_table(experiment);
  EXPECT_EQ(table.samples, 5);
  ASSERT_EQ(table.rows.size(), model.tape.nodes().size());
  const auto& conv = table.rows[0];
  EXPECT_EQ(conv.name, "conv1");
  EXPECT_EQ(conv.op, "conv2d");
  EXPECT_EQ(conv.output, (Shape{5, 6, 6}));
  EXPECT_EQ(conv.parameters, 5 * 2 * 9 + 5);
  EXPECT_EQ(conv.multiply_adds, 5 * (5 * 36) * (2 * 9));
  EXPECT_EQ(conv.output_bytes, 5u * 5 * 36 * 4);
  EXPECT_EQ(conv.saved, 5u * 2 * 36 * 4);  // its input
  EXPECT_EQ(table.total.parameters, model.tape.parameter_count());
  EXPECT_EQ(table.total.saved, saved_bytes(experiment.program, model.tape).total);
  // flatten is its input seen in another shape: no memory of its own.
  for (const auto& row : table.rows) {
    if (row.op == "flatten") {
      EXPECT_EQ(row.output_bytes, 0u);
    }
  }
}

}  // namespace
}  // namespace arenagrad
