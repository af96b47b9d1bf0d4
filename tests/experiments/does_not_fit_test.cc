#include "experiments/does_not_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "allocator/units.h"
#include "experiments/run.h"
#include "tests/experiments/small_models.h"
#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;

constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                   GradientMode::per_step};

/// The report of a dry run that must not fit.
OutOfMemoryReport report_of(const Model& model, const Settings& settings) {
  try {
    run_dry(model, settings);
  } catch (const DoesNotFit& error) {
    EXPECT_EQ(error.what(), text(error.report));
    return error.report;
  }
  ADD_FAILURE() << "it fitted";
  return {};
}

Settings in_capacity(Settings settings, std::size_t capacity) {
  settings.capacity = capacity;
  return settings;
}

std::size_t sum(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

bool says(const OutOfMemoryReport& report, const std::string& words) {
  return text(report).find(words) != std::string::npos;
}

TEST(DoesNotFit, AtTheFootprintItRunsAndOneByteBelowItIsExplained) {
  const auto model = small_net(true);
  for (const auto mode : kModes) {
    auto settings = small_settings(mode);
    const auto footprint = run_dry(model, settings).measurement.bytes.footprint;
    settings.capacity = footprint;
    EXPECT_EQ(run_real(model, settings, {}).measurement.bytes.reserved, footprint);
    settings.capacity = footprint - 1;
    try {
      run_real(model, settings, {});
      FAIL() << "it fitted";
    } catch (const DoesNotFit& error) {
      const auto& report = error.report;
      EXPECT_EQ(report.capacity, footprint - 1);
      EXPECT_FALSE(report.tensor.empty());
      EXPECT_GT(report.requested, 0u);
      EXPECT_GE(report.granted, report.requested);
      EXPECT_EQ(report.live_total, sum(report.live));
      EXPECT_LT(report.largest_hole, report.granted);
      EXPECT_EQ(report.fits_without_fragmentation, report.aligned_bound < footprint);
      const bool itself_left_out = report.settings.strategy == "bump";
      EXPECT_EQ(report.alternatives.size(), strategies().size() - (itself_left_out ? 1 : 2));
      for (const auto& other : report.alternatives) {
        ASSERT_TRUE(other.footprint);
        // Adaptive strategies may need whole granules beyond their footprint.
        EXPECT_TRUE(other.fits == (*other.footprint <= report.capacity) ||
                    (find_strategy(other.strategy).adaptive && !other.fits))
            << other.strategy;
      }
      const std::string text = error.what();
      EXPECT_NE(text.find(report.tensor), std::string::npos);
      EXPECT_NE(text.find(name(report.category)), std::string::npos);
    }
  }
}

TEST(DoesNotFit, BelowTheLowerBoundNoStrategyCan) {
  auto settings = small_settings();
  const auto model = small_net(false);
  settings.capacity = run_dry(model, settings).measurement.bytes.lower_bound - 1;
  const auto text = test::message_of([&] { run_dry(model, settings); });
  EXPECT_NE(text.find("No strategy can fit it"), std::string::npos) << text;
}

TEST(DoesNotFit, TheBooksAtTheRefusalBalance) {
  const auto model = small_net(true);
  for (const auto& strategy : strategies()) {
    if (strategy.offline) continue;
    SCOPED_TRACE(strategy.name);
    auto settings = small_settings();
    settings.strategy = strategy.name;
    settings.top = 1000;
    const auto bound = run_dry(model, settings).measurement.bytes.lower_bound;
    const auto report = report_of(model, in_capacity(settings, bound / 2));
    EXPECT_EQ(report.live_total + report.internal_waste + report.external_waste, report.footprint);
    EXPECT_LE(report.footprint, report.reserved);
    EXPECT_LE(report.reserved, report.capacity);
    EXPECT_GT(report.needed, report.capacity);
    EXPECT_FALSE(report.whole_plan);
    EXPECT_FALSE(report.system_refused);
    // All that is live, largest first; the request itself is not.
    std::size_t listed = 0;
    for (const auto& buffer : report.top) {
      listed += buffer.bytes;
      EXPECT_NE(buffer.name, report.tensor);
    }
    EXPECT_EQ(listed, report.live_total);
    const auto larger = [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; };
    EXPECT_TRUE(std::is_sorted(report.top.begin(), report.top.end(), larger));
  }
}

TEST(DoesNotFit, TheTextNamesOneStrategyThatFits) {
  const auto model = small_net(true);
  auto settings = small_settings();
  settings.strategy = "bump";
  const auto needs = run_dry(model, settings).measurement.bytes.footprint;
  const auto report = report_of(model, in_capacity(settings, needs - 1));
  const Alternative* least = nullptr;
  for (const auto& other : report.alternatives)
    if (other.fits && (least == nullptr || *other.footprint < *least->footprint)) least = &other;
  ASSERT_NE(least, nullptr);
  EXPECT_TRUE(says(report, " It fits with --strategy " + least->strategy + ", in a footprint of "));
  EXPECT_TRUE(says(report, "Without fragmentation it would have fitted"));
  for (const auto& other : report.alternatives)
    EXPECT_EQ(says(report, "--strategy " + other.strategy + ","), &other == least);
  EXPECT_EQ(report.footprint_without_limit, needs);
  settings.capacity.reset();
  settings.strategy = least->strategy;
  EXPECT_EQ(run_dry(model, settings).measurement.bytes.footprint, *least->footprint);
}

TEST(DoesNotFit, WhereNoneFitsTheTextNamesTheLeast) {
  const auto model = small_net(true);
  const auto settings = small_settings();
  const auto bytes = run_dry(model, settings).measurement.bytes;
  const auto report = report_of(model, in_capacity(settings, bytes.aligned_bound - 1));
  std::size_t least = *report.footprint_without_limit;
  for (const auto& other : report.alternatives) {
    EXPECT_FALSE(other.fits) << other.strategy;
    least = std::min(least, *other.footprint);
  }
  EXPECT_TRUE(says(report, " The least that any strategy takes is " + exact_bytes(least) + " ("));
  EXPECT_FALSE(says(report, "--strategy"));
}

TEST(DoesNotFit, APlanIsRefusedAsAWhole) {
  const auto model = small_net(true);
  auto settings = small_settings();
  settings.strategy = "plan:exact";
  const auto whole = run_dry(model, settings);
  const auto& bytes = whole.measurement.bytes;
  const auto report = report_of(model, in_capacity(settings, bytes.footprint - 1));
  EXPECT_TRUE(report.whole_plan);
  EXPECT_EQ(report.needed, bytes.footprint);
  EXPECT_EQ(report.footprint_without_limit, bytes.footprint);
  EXPECT_EQ(report.live_total, 0u);
  EXPECT_TRUE(says(report, "the plan is reserved as a whole and needs "));
  EXPECT_FALSE(says(report, "are live"));
  // Nothing is live yet: what is listed are the largest at the run's peak.
  ASSERT_EQ(report.top.size(), whole.measurement.top.size());
  for (std::size_t i = 0; i < report.top.size(); ++i)
    EXPECT_EQ(report.top[i].name, whole.measurement.top[i].name);
}

TEST(DoesNotFit, WhatTheSystemRefusesIsNotTheCapacitys) {
  const auto model = small_net(true);
  const auto experiment = prepare(model, small_settings());
  const auto& buffer = experiment.program.buffers.front();
  const OutOfMemory error({.request = {.id = BufferId{0}, .bytes = buffer.bytes, .alignment = 64},
                           .granted = buffer.bytes,
                           .usage = {},
                           .largest_hole = 0,
                           .needed = 1 << 20,
                           .capacity = kUnlimited});
  const auto report = explain(experiment, error);
  EXPECT_TRUE(report.system_refused);
  EXPECT_TRUE(says(report, "the system refused to give more")) << text(report);
}

}  // namespace
}  // namespace arenagrad
