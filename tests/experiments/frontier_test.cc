// Memory against time: what is counted, what is on the frontier, and that fit and sweep find the
// same ways that planning each by itself does.
#include "experiments/frontier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "experiments/compare.h"
#include "experiments/fit.h"
#include "experiments/sweep.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

Settings settings_of(GradientMode mode, std::int64_t batch, std::int64_t micro,
                     const Recompute& recompute = {}) {
  Settings settings;
  settings.plan.batching = {batch, micro};
  settings.plan.mode = mode;
  settings.plan.recompute = recompute;
  return settings;
}

StepCost cost_of(const Model& model, const Settings& settings) {
  const auto experiment = prepare(model, settings);
  return step_cost(experiment.program.step, experiment.program, model.tape);
}

/// Multiply-adds of one sample's forward through the nodes in front of `before`, or all.
std::int64_t forward_of(const Model& model, const std::string& before = "") {
  std::int64_t sum = 0;
  for (const auto& node : model.tape.nodes()) {
    if (node.name == before) break;
    sum += node.multiply_adds;
  }
  return sum;
}

TEST(StepCost, AStepIsAForwardAndTwoMoreInEveryMode) {
  const auto model = test::small_net(false);
  const auto whole = cost_of(model, settings_of(GradientMode::full_batch, 7, 7));
  EXPECT_EQ(whole.multiply_adds, 3 * 7 * forward_of(model));
  EXPECT_EQ(whole.multiply_adds, estimated_cost(model.tape, 7, 1));  // what compare counts with
  EXPECT_EQ(whole.recomputed, 0);
  EXPECT_EQ(whole.times(), 1);
  for (const auto mode : {GradientMode::accumulated_graph, GradientMode::per_step})
    for (const std::int64_t micro : {1, 2, 3}) {
      const auto parts = cost_of(model, settings_of(mode, 7, micro));
      EXPECT_EQ(parts.multiply_adds, whole.multiply_adds) << name(mode) << " in " << micro;
      EXPECT_GT(parts.kernel_calls, whole.kernel_calls);
    }
  // A second pass is one more forward, but none that runs again in backward.
  const auto twice = cost_of(model, settings_of(GradientMode::two_pass, 7, 2));
  EXPECT_EQ(twice.multiply_adds, 4 * 7 * forward_of(model));
  EXPECT_EQ(twice.recomputed, 0);
}

TEST(StepCost, ARepeatedPartCountsForEachRound) {
  const auto model = test::small_net(false);
  const auto calls = [&](std::int64_t batch) {
    return cost_of(model, settings_of(GradientMode::per_step, batch, 1)).kernel_calls;
  };
  EXPECT_EQ(calls(9) - calls(8), calls(5) - calls(4));
  EXPECT_EQ(calls(9) - calls(5), 4 * (calls(5) - calls(4)));
  EXPECT_GT(calls(9), calls(8));
}

TEST(StepCost, WhatRunsAgainIsCountedOnceMore) {
  const auto model = test::small_net(false);
  const Recompute way{.kind = Recompute::Kind::before, .layers = {"conv2"}};
  for (const auto mode : {GradientMode::full_batch, GradientMode::per_step}) {
    const auto cost = cost_of(model, settings_of(mode, 4, 4, way));
    EXPECT_EQ(cost.recomputed, 4 * forward_of(model, "conv2"));
    EXPECT_GT(cost.recomputed, 0);
    EXPECT_EQ(cost.multiply_adds, 3 * 4 * forward_of(model) + cost.recomputed);
    EXPECT_DOUBLE_EQ(cost.times(), static_cast<double>(cost.multiply_adds) /
                                       static_cast<double>(3 * 4 * forward_of(model)));
  }
}

TEST(StepCost, BeyondSixtyThreeBitsIsTheMost) {
  const auto model = test::small_net(false);
  const auto cost = cost_of(model, settings_of(GradientMode::per_step, std::int64_t{1} << 59, 1));
  EXPECT_EQ(cost.multiply_adds, std::numeric_limits<std::int64_t>::max());
}

TEST(Frontier, LeavesOutWhatAnotherBeats) {
  using Choices = std::vector<std::optional<Tradeoff>>;
  EXPECT_EQ(on_frontier(Choices{}), std::vector<bool>{});
  const Choices choices = {Tradeoff{10, 1.0}, Tradeoff{4, 1.3},  Tradeoff{4, 1.2},
                           std::nullopt,      Tradeoff{10, 1.1}, Tradeoff{3, 1.5},
                           Tradeoff{4, 1.2},  Tradeoff{12, 0.9}};
  EXPECT_EQ(on_frontier(choices),
            (std::vector<bool>{true, false, true, false, false, true, false, true}));
}

TEST(Frontier, WaysCutAtDifferentPlaces) {
  const auto model = load_model("resnet18");
  const auto names = [&](const Recompute& own) {
    std::vector<std::string> result;
    for (const auto& way : ways_to_recompute(model.tape, own)) result.push_back(text(way));
    return result;
  };
  const auto ways = names({});
  EXPECT_EQ(ways[0], "none");
  EXPECT_EQ(ways[1], "sqrt");
  const auto has = [&](const char* way) { return std::count(ways.begin(), ways.end(), way); };
  for (const auto* way : {"every:1", "every:2", "every:3", "every:8", "every:12", "every:16"})
    EXPECT_EQ(has(way), 1) << way;
  EXPECT_EQ(has("every:5"), 0);
  EXPECT_EQ(has("every:64"), 0);  // there are fewer places
  const auto more = names({.kind = Recompute::Kind::before, .layers = {"layer3.0.bn1"}});
  EXPECT_EQ(more.size(), ways.size() + 1);
  EXPECT_EQ(more[1], "layer3.0.bn1");
  // Here it cuts where sqrt does, and goes by the name that was typed.
  const auto same = names({.kind = Recompute::Kind::every, .every = 5});
  EXPECT_EQ(same.size(), ways.size());
  EXPECT_EQ(same[1], "every:5");
  EXPECT_EQ(std::count(same.begin(), same.end(), "sqrt"), 0);
  EXPECT_EQ(names({.kind = Recompute::Kind::every, .every = 1}).size(), ways.size());
  EXPECT_THROW(names({.kind = Recompute::Kind::before, .layers = {"nowhere"}}), Error);
}

/// Brute force: the bytes and the cost of a way, planned by itself.
TEST(Frontier, OfASweepIsWhatEachWayTakesAtTheLargestBatch) {
  const auto model = test::small_net(true);
  SweepOptions options;
  options.settings.threads = 1;
  options.batches = {1, 2, 12};
  options.modes = {GradientMode::full_batch, GradientMode::per_step};
  options.micro_batch = 5;
  options.frontier = true;
  const auto swept = sweep([](auto) { return test::small_net(true); }, options);
  const auto ways = ways_to_recompute(model.tape, {});
  ASSERT_EQ(swept.frontier.size(), 2 * ways.size());
  ASSERT_GT(ways.size(), 3u);
  for (const auto& [way, point, optimal] : swept.frontier) {
    auto settings = at_batch(in_mode(options.settings, point.mode), 12, options.micro_batch);
    settings.plan.recompute = way;
    EXPECT_EQ(point.batch, 12);
    EXPECT_EQ(point.peak.requested, run_dry(model, settings).measurement.bytes.peak_requested);
    EXPECT_EQ(point.cost, cost_of(model, settings));
    bool beaten = false;
    for (const auto& [other_way, other, other_optimal] : swept.frontier)
      beaten = beaten ||
               (other.mode == point.mode && other.cost.multiply_adds <= point.cost.multiply_adds &&
                other.peak.requested < point.peak.requested);
    EXPECT_FALSE(beaten && optimal) << text(way);
  }
  // Both modes have one, each begins without recomputation, and memory falls along it.
  const SweepPoint* before = nullptr;
  int begins = 0;
  for (const auto& [way, point, optimal] : swept.frontier) {
    if (!optimal) continue;
    if (before == nullptr || before->mode != point.mode) {
      EXPECT_EQ(point.cost.recomputed, 0);
      ++begins;
    } else {
      EXPECT_LT(point.peak.requested, before->peak.requested);
      EXPECT_GT(point.cost.multiply_adds, before->cost.multiply_adds);
    }
    before = &point;
  }
  EXPECT_EQ(begins, 2);
  EXPECT_TRUE(sweep([](auto) { return test::small_net(true); },
                    {.batches = {2}, .modes = {GradientMode::full_batch}})
                  .frontier.empty());
}

TEST(Frontier, OfAFitIsEachWaysLargestBatch) {
  const auto model = test::small_net(true);
  FitOptions options;
  options.settings.profile.granule = 4096;
  options.most = 200;
  options.frontier = true;
  options.memory = run_dry(model, at_batch(options.settings, 40, {})).measurement.bytes.reserved;
  const auto result = fit(model, options);
  ASSERT_EQ(result.frontier.size(), ways_to_recompute(model.tape, {}).size());
  std::int64_t best = 0;
  for (const auto& way : result.frontier) {
    auto alone = options;
    alone.frontier = false;
    alone.settings.plan.recompute = way.recompute;
    EXPECT_EQ(way.found.largest, fit(model, alone).found.largest) << text(way.recompute);
    // From the least time to the most: on the frontier where it fits more than all before.
    EXPECT_EQ(way.optimal, way.found.largest > best) << text(way.recompute);
    best = std::max(best, way.found.largest);
  }
  EXPECT_EQ(result.frontier.front().found.largest, result.found.largest);
  EXPECT_GT(best, result.found.largest);  // there is something to be had
}

TEST(Frontier, IsStillSoughtWhenNothingFitsWithoutRecomputation) {
  const auto model = load_model("resnet20_cifar");
  FitOptions options;
  options.settings.profile.granule = 4096;
  options.most = 4;
  options.frontier = true;
  auto again = at_batch(options.settings, 1, {});
  again.plan.recompute.kind = Recompute::Kind::square_root;
  options.memory = run_dry(model, again).measurement.bytes.reserved;
  ASSERT_LT(options.memory,
            run_dry(model, at_batch(options.settings, 1, {})).measurement.bytes.reserved);
  const auto result = fit(model, options);
  EXPECT_EQ(result.found.largest, 0);
  const auto helps = std::ranges::find_if(
      result.remedies, [](const Remedy& remedy) { return remedy.what == "--recompute sqrt"; });
  ASSERT_NE(helps, result.remedies.end());
  EXPECT_TRUE(helps->fits);
  EXPECT_TRUE(std::ranges::any_of(result.frontier, [](const FitOnFrontier& way) {
    return way.optimal && way.found.largest >= 1;
  }));
}

TEST(Frontier, StopsWhenTimeRunsOutAndWhenInterrupted) {
  const auto model = test::small_net(true);
  FitOptions options;
  options.memory = std::size_t{64} << 20;
  options.most = 1000;
  options.frontier = true;
  options.budget = 0;
  for (const auto& way : fit(model, options).frontier) {
    EXPECT_EQ(way.error, "not looked at: time ran out");
    EXPECT_FALSE(way.optimal);
  }
  std::atomic<bool> interrupted = false;
  SweepOptions sweeping{.batches = {4}, .modes = {GradientMode::full_batch}, .frontier = true};
  sweeping.interrupted = &interrupted;
  std::size_t last = 0;
  sweeping.progress = [&](std::size_t done, std::size_t of) {
    EXPECT_LT(done, of);
    last = done;
    if (done == 2) interrupted = true;  // inside the frontier, which begins at 1
  };
  EXPECT_THROW(sweep([](auto) { return test::small_net(true); }, sweeping), Interrupted);
  EXPECT_EQ(last, 2u);
}

}  // namespace
}  // namespace arenagrad
