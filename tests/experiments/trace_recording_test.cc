#include "experiments/trace_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocator/traces/checks.h"
#include "allocator/traces/formats.h"
#include "allocator/traces/lives.h"
#include "allocator/traces/totals.h"
#include "experiments/does_not_fit.h"
#include "experiments/run.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;
using Kind = TraceEvent::Kind;

constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                   GradientMode::per_step};

TraceLog recorded(const Experiment& experiment, const std::vector<Event>& log) {
  TraceLog trace;
  record_trace(experiment, log, trace);
  TraceChecks checks;
  for (const auto& event : trace.events()) EXPECT_EQ(checks.apply(event), "");
  return trace;
}

/// A ledger's event with the same figures, but for what only one of them says.
std::vector<Event> as_ledger_events(const TraceLog& trace) {
  std::vector<Event> events;
  std::map<std::uint64_t, Event> live;
  for (const auto& event : trace.events()) {
    if (event.kind == Kind::scope || event.kind == Kind::refuse) continue;
    Event out{};
    if (event.kind == Kind::free) {
      out = live.at(event.id);
      out.kind = Event::Kind::free;
    } else if (event.kind == Kind::allocate) {
      out = {Event::Kind::allocate, *event.category, BufferId{static_cast<std::uint32_t>(event.id)},
             event.bytes,           event.granted,   event.offset};
      live[event.id] = out;
    } else {
      out.kind = event.kind == Kind::reserve    ? Event::Kind::reserve
                 : event.kind == Kind::release  ? Event::Kind::release
                 : event.kind == Kind::commit   ? Event::Kind::commit
                 : event.kind == Kind::decommit ? Event::Kind::decommit
                 : event.kind == Kind::map      ? Event::Kind::map
                                                : Event::Kind::unmap;
      out.requested = event.bytes;
      out.offset = event.offset;
    }
    events.push_back(out);
  }
  return events;
}

TEST(TraceRecording, IsTheLedgersEventsOneForOne) {
  const auto model = small_net(true);
  for (const auto mode : kModes) {
    for (const auto& strategy : strategies()) {
      auto settings = small_settings(mode);
      settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
      settings.steps = 3;
      settings.strategy = std::string(strategy.name);
      std::vector<Event> log;
      const auto dry = run_dry(model, settings, &log);
      ASSERT_EQ(log.size(), dry.record.events);
      const auto trace = recorded(dry.experiment, log);
      EXPECT_EQ(as_ledger_events(trace), log) << strategy.name << " " << name(mode);

      TraceTotals totals;
      trace.replay(totals);
      EXPECT_EQ(totals.allocations, dry.record.totals.allocations);
      EXPECT_EQ(totals.frees, dry.record.totals.frees);
      EXPECT_EQ(totals.driver_calls, dry.record.totals.driver_calls);
      EXPECT_EQ(totals.live_bytes, 0u);
      EXPECT_EQ(totals.peak_bytes, dry.record.peak.requested);
      EXPECT_EQ(totals.at_peak, dry.record.peak.by_category);
      EXPECT_EQ(totals.other_at_peak, 0u);
      EXPECT_EQ(lower_bound(lifetimes(trace), false), dry.measurement.bytes.lower_bound);
    }
  }
}

TEST(TraceRecording, ARealRunsTraceIsTheDryRuns) {
  const auto model = small_net(true);
  auto settings = small_settings(GradientMode::per_step);
  settings.steps = 2;
  std::vector<Event> dry_log, log;
  const auto dry = run_dry(model, settings, &dry_log);
  RunOptions options;
  options.log = &log;
  const auto run = run_real(model, settings, options);
  EXPECT_EQ(log, dry_log);
  EXPECT_EQ(run.observed.events, log.size());
}

TEST(TraceRecording, ScopesSayWhereTheProgramIs) {
  const auto model = small_net(false);
  auto settings = small_settings(GradientMode::per_step);  // micro-batches of 2, 2 and 1
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd};
  settings.steps = 2;
  std::vector<Event> log;
  const auto dry = run_dry(model, settings, &log);
  const auto trace = recorded(dry.experiment, log);
  EXPECT_EQ(trace.header().name, "small, batch 5, per-step, best-fit");
  EXPECT_EQ(trace.header().alignment, dry.experiment.profile.alignment);

  TraceEvent scope;
  std::set<std::string> phases, layers;
  std::set<std::int64_t> steps;
  std::map<std::string, std::string> born, died;  // by name: phase and layer
  std::map<std::uint64_t, std::string> names;
  for (const auto& event : trace.events()) {
    if (event.kind == Kind::scope) {
      EXPECT_FALSE(scope == event) << "a scope that changes nothing";
      scope = event;
      phases.emplace(event.phase);
      layers.emplace(event.name);
      steps.insert(event.step);
    }
    const auto here = std::string(scope.phase) + " " + std::string(scope.name);
    if (event.kind == Kind::allocate) {
      EXPECT_FALSE(event.name.empty());
      names[event.id] = event.name;
      born.emplace(event.name, here);
    } else if (event.kind == Kind::free) {
      died.emplace(names[event.id], here);
    }
  }
  EXPECT_EQ(phases, (std::set<std::string>{"setup", "forward", "backward", "update", "teardown"}));
  EXPECT_EQ(steps, (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(layers.contains("conv1") && layers.contains("fc") && layers.contains("fc.weight"));
  EXPECT_EQ(born.at("conv1.weight"), "setup ");
  EXPECT_EQ(died.at("conv1.weight"), "teardown ");
  EXPECT_EQ(born.at("conv1 output (micro-batch 0)"), "forward conv1");
  EXPECT_EQ(born.at("conv1 output (micro-batch 1)"), "forward conv1");
  EXPECT_EQ(born.at("conv1 output (micro-batch 2)"), "forward conv1");
  EXPECT_EQ(born.at("fc.weight gradient"), "backward fc");
  EXPECT_EQ(died.at("fc.weight gradient"), "update fc.weight");
}

TEST(TraceRecording, EndsWithWhatDidNotFit) {
  const auto model = small_net(false);
  auto settings = small_settings();
  settings.capacity = run_dry(model, settings).measurement.bytes.lower_bound - 1;
  std::vector<Event> log;
  EXPECT_THROW(run_dry(model, settings, &log), DoesNotFit);
  const auto trace = recorded(prepare(model, settings), log);
  const auto refused =
      std::find_if(trace.events().begin(), trace.events().end(),
                   [](const TraceEvent& event) { return event.kind == Kind::refuse; });
  ASSERT_NE(refused, trace.events().end());
  EXPECT_FALSE(refused->name.empty());
  EXPECT_GT(refused->bytes, 0u);
  TraceTotals totals;
  trace.replay(totals);
  EXPECT_EQ(totals.refusals, 1u);
  EXPECT_EQ(totals.live, 0u);
  EXPECT_TRUE(std::all_of(std::next(refused), trace.events().end(),
                          [](const TraceEvent& event) { return event.kind != Kind::allocate; }));
}

TEST(TraceRecording, EveryFormatHoldsTheAllocations) {
  const auto model = small_net(true);
  auto settings = small_settings(GradientMode::accumulated_graph);
  std::vector<Event> log;
  const auto dry = run_dry(model, settings, &log);
  const auto trace = recorded(dry.experiment, log);
  for (const TraceFormat& format : trace_formats()) {
    if (format.read == nullptr) continue;
    std::string text;
    trace.replay(*format.make_writer([&](std::string_view more) { text += more; }));
    ByteSource source(reading_text(text), "written");
    TraceLog again;
    format.read(source, again, {});
    const auto lives = lifetimes(trace), lives_again = lifetimes(again);
    ASSERT_EQ(lives.size(), lives_again.size()) << format.name;
    for (std::size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(lives[i].bytes, lives_again[i].bytes) << format.name;
      EXPECT_EQ(lives[i].begin, lives_again[i].begin) << format.name;
      EXPECT_EQ(lives[i].end, lives_again[i].end) << format.name;
    }
  }
}

}  // namespace
}  // namespace arenagrad
