#include "experiments/lab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "allocator/traces/formats.h"
#include "graph/execute.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;

constexpr std::size_t kGranule = std::size_t{2} << 20;

RequestTrace problem(const std::string& file) {
  return requests_of(load_trace(ARENAGRAD_SOURCE_DIR "/tests/data/" + file), kGranule);
}

RequestTrace from_text(std::string_view text) {
  ByteSource source(reading_text(text), "test");
  TraceLog log;
  sniff_trace_format(source).read(source, log, {});
  return requests_of(log, kGranule);
}

/// Megabytes of a few sizes that come and go, so that segments and pages matter.
RequestTrace large_buffers() {
  std::string text = "id,lower,upper,size\n";
  std::uint32_t random = 1;
  const auto next = [&](std::uint32_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  for (std::uint32_t i = 0; i < 150; ++i) {
    const auto bytes = next(4) == 0 ? next(1 << 20) + 1 : (next(30) + 1) * 777'777;
    text += std::to_string(i) + "," + std::to_string(i) + "," + std::to_string(i + 1 + next(25)) +
            "," + std::to_string(bytes) + "\n";
  }
  return from_text(text);
}

double percent_over(const LabRow& row, const LabReport& report) {
  return 100.0 * (static_cast<double>(row.footprint) / static_cast<double>(report.lower_bound) - 1);
}

TEST(Lab, HeightsOfAResNet50Step) {
  // Over the lower bound, in percent; half of the last digit for rounding.
  const std::map<std::string, double> most = {
      {"best-fit", 0.305}, {"expandable", 2.25},      {"bfc", 2.65},          {"tlsf", 0.5},
      {"caching", 11.6},   {"plan:greedy-size", 0.7}, {"plan:search", 0.085}, {"plan:exact", 0.0}};
  LabOptions options;
  for (const auto& [name, percent] : most) options.only.push_back(name);
  const auto report = run_lab(problem("idealloc/resnet50.csv"), options);
  EXPECT_EQ(report.lower_bound, 1'515'472'556u);
  EXPECT_EQ(report.aligned_bound, report.lower_bound);
  ASSERT_EQ(report.rows.size(), most.size());
  for (const LabRow& row : report.rows) {
    SCOPED_TRACE(row.strategy);
    EXPECT_LE(percent_over(row, report), most.at(row.strategy));
    EXPECT_EQ(row.peak_requested, report.lower_bound);
    EXPECT_GE(row.footprint, row.peak_active);
    EXPECT_GE(row.reserved, row.footprint);
    EXPECT_GE(row.internal_waste, row.peak_active - report.lower_bound);
    EXPECT_LE(row.external_waste, row.footprint - row.peak_active);
    EXPECT_FALSE(row.truncated);
    EXPECT_EQ(row.offline, row.plan_seconds.has_value());
    EXPECT_FALSE(row.first_step_footprint);
  }
  const auto exact = std::find_if(report.rows.begin(), report.rows.end(),
                                  [](const LabRow& row) { return row.strategy == "plan:exact"; });
  EXPECT_TRUE(exact->proven);
  EXPECT_EQ(exact->bound, report.lower_bound);
}

TEST(Lab, ALeadingGapIsUsed) {
  // Lifetimes of a well-known case, ends inclusive: C goes below B, where A has been.
  const auto report = run_lab(from_text("id,start,end,size\n0,0,1,100\n1,1,2,80\n2,2,3,60\n"), {});
  EXPECT_EQ(report.lower_bound, 180u);
  for (const LabRow& row : report.rows) {
    if (row.offline || row.strategy == "best-fit" || row.strategy == "first-fit") {
      EXPECT_EQ(row.footprint, 180u) << row.strategy;
    }
    EXPECT_EQ(row.proven, row.offline) << row.strategy;
  }
}

TEST(Lab, OnTheSmallestDeviceItRunsAndOnALesserOneItDoesNot) {
  const auto trace = large_buffers();
  const auto report = run_lab(trace, {});
  ASSERT_EQ(report.rows.size(), strategies().size());
  for (const LabRow& row : report.rows) {
    SCOPED_TRACE(row.strategy);
    ASSERT_EQ(row.error, "");
    const StrategyInfo& strategy = find_strategy(row.strategy);
    const std::size_t step = strategy.adaptive ? kGranule : 1;
    ASSERT_TRUE(row.smallest_device);
    EXPECT_GE(*row.smallest_device, report.aligned_bound);
    EXPECT_LE(*row.smallest_device, row.reserved);
    if (!strategy.adaptive) {
      EXPECT_EQ(*row.smallest_device, row.footprint);
    }
    EXPECT_TRUE(fits(trace, strategy.make, *row.smallest_device));
    EXPECT_FALSE(fits(trace, strategy.make, *row.smallest_device - step));
  }
}

TEST(Lab, ACapacityIsAskedOfEveryStrategy) {
  const auto trace = large_buffers();
  const auto whole = run_lab(trace, {.only = {"best-fit", "caching", "bump"}});
  EXPECT_FALSE(whole.rows[0].fits_capacity);
  LabOptions options{.only = {"best-fit", "caching", "bump"}, .capacity = whole.rows[0].footprint};
  const auto exact = run_lab(trace, options);
  EXPECT_EQ(exact.rows[0].fits_capacity, true);
  EXPECT_EQ(exact.rows[1].fits_capacity,
            fits(trace, find_strategy("caching").make, whole.rows[0].footprint));
  EXPECT_EQ(exact.rows[2].fits_capacity, false);
  *options.capacity -= 1;
  EXPECT_EQ(run_lab(trace, options).rows[0].fits_capacity, false);
}

TEST(Lab, TheFirstStepAndTheSteadyState) {
  const auto model = small_net(true);
  auto settings = small_settings();
  settings.steps = 2;
  LabOptions options{.only = {"best-fit", "plan:greedy-size"}};
  const auto steady = run_lab(requests_of(prepare(model, settings)), options);
  for (const LabRow& row : steady.rows) EXPECT_EQ(row.first_step_footprint, row.footprint);
  // Optimizer state is born in the first update: the second step's backward has it in its way.
  settings.plan.optimizer.kind = OptimizerSpec::Kind::adam;
  const auto growing = run_lab(requests_of(prepare(model, settings)), options);
  for (const LabRow& row : growing.rows) {
    ASSERT_TRUE(row.first_step_footprint);
    EXPECT_GT(*row.first_step_footprint, 0u);
    EXPECT_LE(*row.first_step_footprint, row.footprint);
  }
  EXPECT_LT(*growing.rows[0].first_step_footprint, growing.rows[0].footprint);
}

TEST(Lab, FiguresOfAModelAreThoseOfItsDryRun) {
  const auto model = small_net(true);
  auto settings = small_settings(GradientMode::per_step);
  settings.steps = 2;
  const auto experiment = prepare(model, settings);
  const auto report = run_lab(requests_of(experiment), {});
  for (const LabRow& row : report.rows) {
    const auto record = dry_run(experiment, find_strategy(row.strategy), kUnlimited);
    EXPECT_EQ(row.footprint, record.totals.footprint) << row.strategy;
    EXPECT_EQ(row.reserved, record.totals.peak_reserved) << row.strategy;
    EXPECT_EQ(row.driver_calls, record.totals.driver_calls) << row.strategy;
  }
}

TEST(Lab, WhatTheClockStopsSaysSo) {
  LabOptions options{.only = {"plan:exact"}, .seconds = 0.01};
  const auto report = run_lab(problem("minimalloc/D.1048576.csv"), options);
  EXPECT_TRUE(report.rows[0].truncated);
  EXPECT_FALSE(report.rows[0].proven);
  EXPECT_LE(*report.rows[0].bound, report.rows[0].footprint);
  // Searches for a device stop too.
  const auto search = run_lab(large_buffers(), {.only = {"caching"}, .seconds = 0});
  EXPECT_TRUE(search.rows[0].truncated);
  EXPECT_EQ(search.rows[0].smallest_device, search.rows[0].reserved);
}

TEST(Lab, ErrorsAndInterrupts) {
  EXPECT_THROW(run_lab(large_buffers(), {.only = {"no-fit"}}), Error);
  const std::atomic<bool> interrupted{true};
  EXPECT_THROW(run_lab(large_buffers(), {.interrupted = &interrupted}), Interrupted);
}

TEST(Lab, TheRecommendationNamesTheSmallestDevices) {
  const auto gains =
      run_lab(problem("minimalloc/input.12.csv"), {.only = {"bump", "best-fit", "plan:exact"}});
  const std::string text = recommendation(gains);
  EXPECT_NE(text.find("online, best-fit ("), std::string::npos) << text;
  EXPECT_EQ(text.find("bump"), std::string::npos) << text;
  EXPECT_EQ(recommendation(run_lab(problem("minimalloc/input.12.csv"), {.only = {"plan:exact"}}))
                .find("online"),
            std::string::npos);
  EXPECT_NE(recommendation(run_lab(from_text("id,lower,upper,size\n1,0,3,40\n"), {}))
                .find("gains nothing here."),
            std::string::npos);
}

}  // namespace
}  // namespace arenagrad
