#include "allocator/planned.h"

#include <gtest/gtest.h>

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

TEST_F(PlannedTest, RefusesWhatIsOffThePlan) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  EXPECT_THROW(strategy->place(request(1, 10)), ContractError) << "no such buffer";
  EXPECT_THROW(strategy->place(request(99, 10)), ContractError);
  EXPECT_THROW(strategy->place(request(2, 9)), ContractError) << "another size";
  EXPECT_THROW(strategy->place(request(2, 11)), ContractError);
  EXPECT_EQ(strategy->place(request(2, 10)).offset, 0u);
}

TEST_F(PlannedTest, SeesLiveBuffersThatWouldOverlap) {
  SimulatedDriver driver(kUnlimited, 16);
  const auto strategy = make(driver, plan_);
  strategy->place(request(0, 8));
  EXPECT_THROW(strategy->place(request(5, 4)), ContractError) << "0 should have been freed";
  strategy->release(BufferId{0});
  strategy->place(request(5, 4));
  EXPECT_THROW(strategy->place(request(0, 8)), ContractError);

  const auto wrong = make(driver, {{0, 8, 16}, 20});  // 2 and 0 overlap by 4
  wrong->place(request(0, 8));
  EXPECT_THROW(wrong->place(request(2, 10)), ContractError);
  const auto reversed = make(driver, {{0, 8, 16}, 20});
  reversed->place(request(2, 10));
  EXPECT_THROW(reversed->place(request(0, 8)), ContractError);
  const auto low = make(driver, {{0, 12, 12}, 16});  // a height below its top
  EXPECT_THROW(low->place(request(0, 8)), ContractError);
}

TEST_F(PlannedTest, RefusesPlansThatCannotBeMeant) {
  SimulatedDriver driver(kUnlimited, 16);
  EXPECT_THROW(make(driver, {{0, 12}, 20}), ContractError) << "an offset is missing";
  lifetimes_.push_back(lifetimes_.front());
  EXPECT_THROW(make(driver, {{0, 12, 12, 0}, 20}), ContractError) << "one buffer, two lifetimes";
}

}  // namespace
}  // namespace arenagrad
