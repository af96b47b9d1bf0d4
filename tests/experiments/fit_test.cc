// The largest batch against planning every batch.
#include "experiments/fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/sweep.h"
#include "tests/experiments/random_nets.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

/// Brute force: plan it and run it dry in the capacity.
bool fits(const Model& model, const FitOptions& options, std::int64_t batch) {
  auto settings = at_batch(options.settings, batch, options.micro_batch);
  settings.capacity = options.capacity();
  const auto experiment = prepare(model, settings);
  try {
    dry_run(experiment, find_strategy(settings.strategy), *settings.capacity);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

void expect_ranges_are_brute_force(const Model& model, const FitOptions& options,
                                   const Largest& found) {
  for (auto batch = found.examined.first; batch <= found.examined.second; ++batch) {
    if (batch == 0) break;
    bool inside = false;
    for (const auto& [from, to] : found.fits) inside |= from <= batch && batch <= to;
    EXPECT_EQ(inside, fits(model, options, batch)) << "batch " << batch;
  }
}

TEST(Fit, EqualsBruteForceOnRandomNetsAndCapacities) {
  constexpr std::int64_t kMost = 24;
  constexpr const char* kStrategies[] = {"best-fit", "bump", "caching", "first-fit"};
  constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                     GradientMode::per_step};
  int found_inside = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    std::mt19937 draw(seed);
    const auto model = test::random_net(draw);
    FitOptions options;
    options.settings = in_mode(test::random_settings(draw), kModes[seed % 3]);
    options.settings.strategy = kStrategies[draw() % 4];
    options.settings.profile.granule = 4096;  // of the size of these nets
    options.micro_batch = 1 + static_cast<std::int64_t>(draw() % 3);
    if (seed % 3 == 0) options.micro_batch.reset();
    options.most = kMost;
    const auto middle =
        run_dry(model, at_batch(options.settings, 1 + draw() % kMost, options.micro_batch))
            .measurement.bytes.reserved;
    options.memory = middle + draw() % 4096;
    const auto result = fit(model, options);

    std::int64_t expected = 0;
    for (std::int64_t batch = 1; batch <= kMost; ++batch)
      if (fits(model, options, batch)) expected = batch;
    EXPECT_EQ(result.found.largest, expected) << "seed " << seed;
    expect_ranges_are_brute_force(model, options, result.found);
    found_inside += expected > 0 && expected < kMost;
  }
  EXPECT_GT(found_inside, 8);  // the edge was there to be found
}

class FitOfModels : public testing::TestWithParam<const char*> {};

TEST_P(FitOfModels, EndsAtTheEdgeOfSixGibibytes) {
  const auto model = load_model(GetParam());
  FitOptions options;
  options.settings.steps = 2;
  options.memory = std::size_t{6} << 30;
  options.most = 1 << 20;
  options.effective = 4;
  const auto result = fit(model, options);
  const auto largest = result.found.largest;
  ASSERT_GT(largest, 0);
  EXPECT_TRUE(fits(model, options, largest));
  for (std::int64_t above = 1; above <= 4; ++above)
    EXPECT_FALSE(fits(model, options, largest + above)) << largest + above;
  EXPECT_FALSE(fits(model, options, result.found.bound + 1));
  EXPECT_LE(result.footprint_at_largest, options.memory);
  EXPECT_GT(result.footprint_at_next.value(), options.memory);
}

INSTANTIATE_TEST_SUITE_P(Zoo, FitOfModels, testing::Values("alexnet", "resnet50"));

TEST(Fit, ProvesTheEdgeByRunningIt) {
  const auto model = test::small_net(true);
  FitOptions options;
  options.settings.threads = 1;
  options.settings.profile.granule = 4096;
  options.most = 64;
  options.prove = true;
  options.memory = run_dry(model, at_batch(options.settings, 7, {})).measurement.bytes.reserved;
  const auto result = fit(model, options);
  ASSERT_TRUE(result.proof);
  EXPECT_TRUE(result.proof->ran);
  EXPECT_TRUE(result.proof->same_ledger);
  EXPECT_TRUE(result.proof->next_refused);
  EXPECT_TRUE(result.proof->message.find("out of memory") != std::string::npos)
      << result.proof->message;
}

/// What no batch can be planned with is said at once, not after looking at a million.
TEST(Fit, RefusesAtOnceWhatNoBatchCanHave) {
  const auto model = load_model("resnet50");
  FitOptions options;
  options.memory = std::size_t{6} << 30;
  options.most = std::int64_t{1} << 40;
  options.settings.plan.recompute = {.kind = Recompute::Kind::before, .layers = {"nowhere"}};
  std::int64_t planned = 0;
  options.progress = [&](std::int64_t) { ++planned; };
  EXPECT_THROW(fit(model, options), Error);
  EXPECT_EQ(planned, 0);
}

TEST(Fit, ReservedMemoryIsNotOurs) {
  const auto model = test::small_net(false);
  FitOptions whole;
  whole.memory = std::size_t{8} << 20;
  whole.most = 1 << 16;
  auto less = whole;
  less.reserve = std::size_t{4} << 20;
  auto half = whole;
  half.memory = std::size_t{4} << 20;
  EXPECT_LT(fit(model, less).found.largest, fit(model, whole).found.largest);
  EXPECT_EQ(fit(model, less).found.largest, fit(model, half).found.largest);
}

TEST(Fit, ExplainsWhenNothingFitsAndSaysWhatWouldHelp) {
  const auto model = test::small_net(false);
  FitOptions options;
  options.settings.plan.optimizer.kind = OptimizerSpec::Kind::adam;
  options.settings.steps = 2;
  options.settings.profile.granule = 4096;
  options.most = 8;
  auto lighter = options.settings;
  lighter.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd};
  options.memory = run_dry(model, at_batch(lighter, 1, {})).measurement.bytes.reserved;
  const auto result = fit(model, options);
  EXPECT_EQ(result.found.largest, 0);
  ASSERT_TRUE(result.why_not);
  EXPECT_GT(result.why_not->requested, 0u);
  EXPECT_NE(result.why_not->tensor, "");
  const auto helps =
      std::find_if(result.remedies.begin(), result.remedies.end(),
                   [](const Remedy& remedy) { return remedy.what.starts_with("--optimizer sgd"); });
  ASSERT_NE(helps, result.remedies.end());
  EXPECT_TRUE(helps->fits);
}

TEST(Fit, PerStepReachesWhatAFullBatchDoesNot) {
  const auto model = load_model("resnet18");
  FitOptions options;
  options.memory = std::size_t{1} << 30;
  options.most = 1 << 12;
  options.effective = 256;
  const auto result = fit(model, options);
  ASSERT_EQ(result.routes.size(), 3u);
  const auto &full = result.routes[0], &per_step = result.routes[2];
  EXPECT_FALSE(full.fits);
  EXPECT_TRUE(per_step.fits);
  EXPECT_EQ(per_step.passes, (256 + per_step.micro_batch - 1) / per_step.micro_batch);
  auto one_more =
      at_batch(in_mode(options.settings, GradientMode::per_step), 256, per_step.micro_batch + 1);
  one_more.capacity = options.memory;
  EXPECT_THROW(run_dry(model, one_more), DoesNotFit);
}

/// The figures that torchsummary prints, in MiB, where blocks are no modules of their own.
TEST(BatchFormulas, ComputeTorchsummarysFigure) {
  const auto mib = [](const char* name) {
    return static_cast<double>(torchsummary_bytes(load_model(name))) / 1048576;
  };
  EXPECT_NEAR(mib("resnet18"), 57.05, 0.005);
  EXPECT_NEAR(mib("resnet50"), 244.45, 0.005);
  EXPECT_NEAR(mib("resnet152"), 506.29, 0.005);
  EXPECT_NEAR(mib("vgg16"), 218.78, 0.005);
  EXPECT_NEAR(mib("alexnet"), 8.38, 0.005);
}

}  // namespace
}  // namespace arenagrad
