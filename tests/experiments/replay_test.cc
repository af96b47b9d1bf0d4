#include "experiments/replay.h"

#include <gtest/gtest.h>

namespace arenagrad {
namespace {

MakeStrategy maker(std::string_view name) { return find_strategy(name).make; }

/// 0 and 1 are born, 0 dies, and 2 does not go where it was.
RequestTrace leaving_a_hole() {
  RequestTrace trace;
  trace.alignment = 64;
  trace.granule = 64;
  trace.buffers = {{100, 64, Category::parameter},
                   {50, 64, Category::activation},
                   {200, 64, Category::activation}};
  trace.events = {{true, 0}, {true, 1}, {false, 0}, {true, 2}, {false, 1}, {false, 2}};
  trace.lifetimes = {
      {BufferId{0}, 100, 64, 0, 2}, {BufferId{1}, 50, 64, 1, 4}, {BufferId{2}, 200, 64, 3, 5}};
  trace.first_step_end = 2;
  return trace;
}

TEST(Replay, FiguresAreThoseOfThePeak) {
  const auto r = replay(leaving_a_hole(), maker("best-fit"), kUnlimited);
  EXPECT_EQ(r.peak_requested, 250u);
  EXPECT_EQ(r.active, 64u + 256u);
  EXPECT_EQ(r.internal_waste, 14u + 56u);
  EXPECT_EQ(r.external_waste, 128u);
  EXPECT_EQ(r.free, 128u);
  EXPECT_EQ(r.largest_hole, 128u);
  EXPECT_EQ(r.totals.footprint, 128u + 64u + 256u);
  EXPECT_EQ(r.first_step_footprint, 128u + 64u);
  EXPECT_EQ(r.driver_bytes, 448u);
  EXPECT_EQ(r.totals.allocations, 3u);
  EXPECT_EQ(r.totals.frees, 3u);
}

TEST(Replay, APlanLeavesNoHole) {
  const auto r = replay(leaving_a_hole(), maker("plan:exact"), kUnlimited);
  EXPECT_EQ(r.totals.footprint, 320u);
  EXPECT_EQ(r.external_waste, 0u);
}

TEST(Replay, FitsFromTheFootprintOn) {
  const auto trace = leaving_a_hole();
  EXPECT_TRUE(fits(trace, maker("best-fit"), 448));
  EXPECT_FALSE(fits(trace, maker("best-fit"), 447));
  EXPECT_EQ(replay(trace, maker("best-fit"), 448).totals.footprint, 448u);
  EXPECT_THROW(replay(trace, maker("best-fit"), 447), OutOfMemory);
  EXPECT_TRUE(fits(trace, maker("plan:exact"), 320));
  EXPECT_FALSE(fits(trace, maker("plan:exact"), 319));
}

TEST(Replay, EveryCallIsTimed) {
  const auto times = time_calls(leaving_a_hole(), maker("tlsf"));
  for (const CallTimes& calls : {times.allocate, times.free}) {
    EXPECT_GE(calls.median, 0);
    EXPECT_GE(calls.p99, calls.median);
    EXPECT_LT(calls.p99, 1e9);
  }
  RequestTrace none;
  EXPECT_EQ(time_calls(none, maker("tlsf")).allocate.p99, 0);
  EXPECT_EQ(replay(none, maker("tlsf"), kUnlimited).totals.footprint, 0u);
}

}  // namespace
}  // namespace arenagrad
