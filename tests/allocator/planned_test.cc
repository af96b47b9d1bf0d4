#include "allocator/planned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocator/error.h"

namespace arenagrad {
namespace {

constexpr Category kAny = Category::activation;

Request request(std::uint32_t id, std::size_t bytes) { return {BufferId{id}, bytes, 4, kAny}; }

class PlannedTest : public ::testing::Test {
 protected:
  std::unique_ptr<AllocationStrategy> make(Driver& driver, const Plan& plan) {
    return make_planned({driver, 4, lifetimes_}, plan);
  }

  std::vector<Lifetime> lifetimes_ = {
      {BufferId{2}, 10, 4, 0, 5}, {BufferId{0}, 8, 4, 1, 3}, {BufferId{5}, 4, 4, 3, 6}};
  Plan plan_{{0, 12, 12}, 20};  // 2 below; 0 and 5 share
};

TEST_F(PlannedTest, ReplaysThePlan) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  EXPECT_EQ(driver.reserved(), 0u) << "nothing before the first request";
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12}));
  EXPECT_EQ(driver.reserved(), 32u) << "the height, in granules";
  EXPECT_EQ(strategy->usage().footprint, 12u);
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8}));
  EXPECT_EQ(strategy->usage().footprint, 20u);
  strategy->release(BufferId{0});
  EXPECT_EQ(strategy->place(request(5, 4)), (Placement{12, 4}));
  EXPECT_EQ(strategy->largest_hole(), 4u);
  EXPECT_EQ(strategy->usage().free, 4u);
  strategy->release(BufferId{2});
  EXPECT_EQ(strategy->largest_hole(), 12u);
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12})) << "the next round";
}

TEST_F(PlannedTest, NeedsTheWholeHeightAtOnce) {
  SimulatedDriver exact(20, 16);
  EXPECT_EQ(make(exact, plan_)->place(request(2, 10)).offset, 0u);
  EXPECT_EQ(exact.reserved(), 20u);
  SimulatedDriver small(19, 16);
  const auto strategy = make(small, plan_);
  EXPECT_THROW(strategy->place(request(2, 10)), OutOfMemory) << "though this one would fit";
  EXPECT_EQ(small.reserved(), 0u);
  EXPECT_EQ(strategy->usage().footprint, 0u);
}

// From here on: programs that depart from the plan. 20 bytes are planned, what departs lies above.

TEST_F(PlannedTest, AnUnknownBufferGoesAboveThePlan) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12}));
  EXPECT_EQ(strategy->place(request(1, 10)), (Placement{20, 12})) << "an id between planned ones";
  EXPECT_EQ(strategy->place(request(99, 6)), (Placement{32, 8})) << "and one beyond them";
  EXPECT_EQ(strategy->usage().footprint, 40u);
  EXPECT_EQ(strategy->usage().free, 8u) << "of the plan";
  EXPECT_EQ(strategy->largest_hole(), 8u);
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8})) << "the plan goes on";
  EXPECT_EQ(strategy->usage().free, 0u);
  for (const std::uint32_t id : {0, 1, 2, 99}) strategy->release(BufferId{id});
  EXPECT_EQ(strategy->usage().free, strategy->usage().footprint);
}

TEST_F(PlannedTest, AnotherSizeGoesAboveThePlan) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  EXPECT_EQ(strategy->place(request(0, 9)), (Placement{20, 12})) << "larger";
  EXPECT_EQ(strategy->place(request(2, 9)), (Placement{32, 12})) << "smaller";
  strategy->release(BufferId{0});
  strategy->release(BufferId{2});
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8})) << "as planned in the next step";
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12}));
}

TEST_F(PlannedTest, AStricterAlignmentThanPlannedGoesAboveThePlan) {
  for (Lifetime& lifetime : lifetimes_) lifetime.alignment = 2;
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, {{0, 10, 10}, 18});
  EXPECT_EQ(strategy->place({BufferId{0}, 8, 2, kAny}), (Placement{10, 8}));
  EXPECT_EQ(strategy->place({BufferId{2}, 10, 4, kAny}), (Placement{20, 12})) << "a multiple of 4";
  EXPECT_THROW(strategy->place({BufferId{5}, 4, 8, kAny}), ContractError) << "the strategy's is 4";
}

TEST_F(PlannedTest, OneThatComesBeforeItsOffsetIsFreeGoesAboveThePlan) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8}));
  EXPECT_EQ(strategy->place(request(5, 4)), (Placement{20, 4})) << "0 should have been freed";
  strategy->release(BufferId{0});
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12})) << "later than planned";
  strategy->release(BufferId{5});
  EXPECT_EQ(strategy->place(request(5, 4)), (Placement{12, 4}));
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{20, 8})) << "the other way round";
}

TEST_F(PlannedTest, AnyOrderThatTheOffsetsAllowKeepsToThePlan) {
  SimulatedDriver driver(20, 16);
  const auto strategy = make(driver, plan_);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(strategy->place(request(5, 4)), (Placement{12, 4})) << "the last first";
    strategy->release(BufferId{5});
    EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8}));
    strategy->release(BufferId{0});  // and 2 is never asked for
  }
  EXPECT_EQ(strategy->usage().footprint, 20u);
}

TEST_F(PlannedTest, WhatDepartsIsPlacedBestFit) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  for (const std::uint32_t id : {10, 11, 12, 13, 14}) {
    strategy->place(request(id, id == 10 ? 16 : 8));
  }
  strategy->release(BufferId{10});  // [20, 36)
  strategy->release(BufferId{12});  // [44, 52)
  EXPECT_EQ(strategy->largest_hole(), 20u) << "the plan's own, whose memory is there";
  EXPECT_EQ(strategy->place(request(15, 7)), (Placement{44, 8})) << "not the lowest hole";
  EXPECT_EQ(strategy->place(request(16, 8)), (Placement{20, 8}));
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{12, 8}));
}

TEST_F(PlannedTest, ADepartureNeedsRoomAboveThePlan) {
  SimulatedDriver enough(28, 16);
  const auto strategy = make(enough, plan_);
  EXPECT_EQ(strategy->place(request(9, 8)), (Placement{20, 8}));
  EXPECT_EQ(enough.reserved(), 28u);
  EXPECT_THROW(strategy->place(request(10, 1)), OutOfMemory) << "the plan's holes are the plan's";
  EXPECT_EQ(strategy->place(request(2, 10)), (Placement{0, 12}));

  SimulatedDriver small(27, 16);
  const auto refused = make(small, plan_);
  refused->place(request(2, 10));
  const auto before = refused->fingerprint();
  try {
    refused->place(request(9, 8));
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.needed, 28u);
    EXPECT_EQ(error.granted, 8u);
    EXPECT_EQ(error.usage.footprint, 12u);
  }
  EXPECT_EQ(refused->fingerprint(), before);
  EXPECT_EQ(refused->place(request(0, 8)), (Placement{12, 8}));
}

TEST_F(PlannedTest, AnEmptyPlanIsBestFit) {
  lifetimes_.clear();
  SimulatedDriver driver(16, 16);
  const auto strategy = make(driver, {});
  EXPECT_EQ(strategy->place(request(0, 8)), (Placement{0, 8}));
  EXPECT_EQ(strategy->place(request(1, 8)), (Placement{8, 8}));
  EXPECT_THROW(strategy->place(request(2, 1)), OutOfMemory);
}

TEST_F(PlannedTest, FingerprintsTellDeparturesApart) {
  SimulatedDriver a(kUnlimited, 16), b(kUnlimited, 16);
  const auto kept = make(a, plan_), departed = make(b, plan_);
  for (const auto& strategy : {kept.get(), departed.get()}) strategy->place(request(0, 8));
  EXPECT_EQ(kept->fingerprint(), departed->fingerprint());
  departed->place(request(7, 4));
  departed->release(BufferId{7});
  EXPECT_NE(kept->fingerprint(), departed->fingerprint()) << "the heap above it has a footprint";
}

// Steps in which requests come in another order, now and then of another size or of no planned
// buffer, and are freed at any time, some of them in a later step.
TEST_F(PlannedTest, WhateverDepartsNothingOverlapsAndTheBooksBalance) {
  constexpr std::uint32_t kBuffers = 40;
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  lifetimes_.clear();
  for (std::uint32_t id = 0; id < kBuffers; ++id) {
    lifetimes_.push_back({BufferId{id}, 1 + below(50), 4, id, id + 1 + below(12)});
  }
  const Plan plan = plan_greedy_size(lifetimes_);
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan);
  std::map<std::uint32_t, Placement> live;
  std::size_t in_plan = 0, above = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::uint32_t id = below(kBuffers + 3);
    if (live.contains(id)) {
      strategy->release(BufferId{id});
      live.erase(id);
    } else {
      const bool as_planned = id < kBuffers && below(8) > 0;
      const Placement p =
          strategy->place(request(id, as_planned ? lifetimes_[id].bytes : 1 + below(50)));
      if (p.offset < plan.height) {
        ASSERT_EQ(p.offset, plan.offsets[id]);
        ++in_plan;
      } else {
        ++above;
      }
      ASSERT_EQ(p.offset % 4, 0u);
      for (const auto& [other, q] : live) {
        ASSERT_TRUE(p.offset + p.granted <= q.offset || q.offset + q.granted <= p.offset)
            << id << " and " << other;
      }
      live[id] = p;
    }
    std::size_t granted = 0, top = 0;
    for (const auto& [other, q] : live) {
      granted += q.granted;
      top = std::max(top, q.offset + q.granted);
    }
    const Usage usage = strategy->usage();
    ASSERT_EQ(usage.footprint, granted + usage.free);
    ASSERT_LE(top, usage.footprint);
    ASSERT_LE(usage.footprint, usage.reserved);
    ASSERT_LE(strategy->largest_hole(), usage.free);
  }
  EXPECT_GT(in_plan, 500u);
  EXPECT_GT(above, 500u);
}

TEST_F(PlannedTest, RefusesPlansThatCannotBeMeant) {
  SimulatedDriver driver(kUnlimited, 16);
  EXPECT_THROW(make(driver, {{0, 12}, 20}), ContractError) << "an offset is missing";
  EXPECT_THROW(make(driver, {{0, 8, 16}, 20}), ContractError) << "2 and 0 overlap by 4";
  EXPECT_THROW(make(driver, {{0, 12, 12}, 16}), ContractError) << "a height below its top";
  EXPECT_THROW(make(driver, {{0, 13, 12}, 21}), ContractError) << "not aligned";
  lifetimes_.push_back(lifetimes_.front());
  EXPECT_THROW(make(driver, {{0, 12, 12, 20}, 32}), ContractError) << "one buffer, two lifetimes";
}

}  // namespace
}  // namespace arenagrad
