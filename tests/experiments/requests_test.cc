#include "experiments/requests.h"

#include <gtest/gtest.h>

#include "allocator/traces/formats.h"
#include "experiments/trace_recording.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

using test::small_net;
using test::small_settings;

TraceLog read(std::string_view text) {
  ByteSource source(reading_text(text), "test");
  TraceLog log;
  sniff_trace_format(source).read(source, log, {});
  return log;
}

std::vector<RequestEvent> requests_in(const std::vector<Event>& log) {
  std::vector<RequestEvent> events;
  for (const Event& event : log) {
    const bool allocates = event.kind == Event::Kind::allocate;
    if (allocates || event.kind == Event::Kind::free)
      events.push_back({allocates, static_cast<std::uint32_t>(event.buffer)});
  }
  return events;
}

bool same(const std::vector<RequestEvent>& a, const std::vector<RequestEvent>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.allocates == y.allocates && x.buffer == y.buffer;
  });
}

TEST(Requests, AreWhatARunAsksFor) {
  const auto model = small_net(true);
  for (const auto mode :
       {GradientMode::full_batch, GradientMode::accumulated_graph, GradientMode::per_step}) {
    auto settings = small_settings(mode);
    settings.plan.optimizer.kind = OptimizerSpec::Kind::adam;
    settings.steps = 3;
    const auto experiment = prepare(model, settings);
    const auto trace = requests_of(experiment);
    std::vector<Event> log;
    // Without a fingerprint no round is skipped, so that the log has every one.
    dry_run(experiment, find_strategy("bump"), kUnlimited, &log);
    EXPECT_TRUE(same(trace.events, requests_in(log))) << name(mode);
    for (const Event& event : log)
      if (event.kind == Event::Kind::allocate) {
        const auto& buffer = trace.buffers[static_cast<std::size_t>(event.buffer)];
        EXPECT_EQ(buffer.bytes, event.requested);
        EXPECT_EQ(buffer.category, event.category);
      }
    EXPECT_EQ(trace.lower_bound(), lower_bound(experiment.lifetimes, false));
    EXPECT_EQ(trace.alignment, experiment.profile.alignment);
  }
}

TEST(Requests, TheFirstStepEndsWhereTheSecondBegins) {
  const auto model = small_net(true);
  auto settings = small_settings();
  const auto end = [&](std::int64_t steps) {
    settings.steps = steps;
    return requests_of(prepare(model, settings)).first_step_end;
  };
  EXPECT_EQ(end(2), end(5));
  EXPECT_GT(end(2), 0u);
  settings.steps = 2;
  const auto trace = requests_of(prepare(model, settings));
  // What a step takes it gives back: with as many frees as allocations but for what persists.
  std::int64_t live = 0;
  for (std::size_t i = 0; i < trace.first_step_end; ++i) live += trace.events[i].allocates ? 1 : -1;
  std::int64_t persistent = 0;
  for (const auto& buffer : trace.buffers)
    persistent +=
        buffer.category == Category::parameter || buffer.category == Category::model_state;
  EXPECT_EQ(live, persistent);
}

TEST(Requests, ATraceGivesTheRequestsThatItWasRecordedFrom) {
  const auto model = small_net(true);
  const auto experiment = prepare(model, small_settings(GradientMode::per_step));
  std::vector<Event> log;
  dry_run(experiment, find_strategy("bump"), kUnlimited, &log);
  TraceLog recorded;
  record_trace(experiment, log, recorded);
  const auto direct = requests_of(experiment);
  const auto read_back = requests_of(recorded, direct.granule);
  ASSERT_EQ(read_back.events.size(), direct.events.size());
  // A buffer of a repeated micro-step is a new one each round in a trace: sizes are compared.
  for (std::size_t i = 0; i < direct.events.size(); ++i) {
    const auto& a = direct.events[i];
    const auto& b = read_back.events[i];
    ASSERT_EQ(a.allocates, b.allocates) << i;
    ASSERT_EQ(direct.buffers[a.buffer].bytes, read_back.buffers[b.buffer].bytes) << i;
    ASSERT_EQ(direct.buffers[a.buffer].category, read_back.buffers[b.buffer].category) << i;
  }
  EXPECT_EQ(read_back.lower_bound(), direct.lower_bound());
  EXPECT_EQ(read_back.first_step_end, 0u);
}

TEST(Requests, AnIdUsedTwiceIsTwoBuffersAndWhatIsLeftIsFreedAtTheEnd) {
  const auto trace = requests_of(read(R"({"arenagrad_trace":1,"name":"n","alignment":8}
{"op":"allocate","id":7,"bytes":10}
{"op":"free","id":7}
{"op":"allocate","id":7,"bytes":20,"alignment":32,"category":"stash"}
{"op":"allocate","id":1,"bytes":30}
)"),
                                 4096);
  EXPECT_EQ(trace.name, "n");
  EXPECT_EQ(trace.granule, 4096u);
  EXPECT_EQ(trace.alignment, 32u);
  ASSERT_EQ(trace.buffers.size(), 3u);
  EXPECT_EQ(trace.buffers[0].alignment, 8u);
  EXPECT_EQ(trace.buffers[0].category, Category::activation);
  EXPECT_EQ(trace.buffers[1].alignment, 32u);
  EXPECT_EQ(trace.buffers[1].category, Category::stash);
  EXPECT_TRUE(
      same(trace.events, {{true, 0}, {false, 0}, {true, 1}, {true, 2}, {false, 1}, {false, 2}}));
  EXPECT_EQ(trace.lower_bound(), 50u);
  EXPECT_EQ(trace.aligned_bound(), 64u);
}

}  // namespace
}  // namespace arenagrad
