#include "allocator/driver.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "allocator/error.h"
#include "allocator/request.h"

namespace arenagrad {
namespace {

TEST(Driver, ReservesApartAtGranules) {
  SimulatedDriver driver(1000, 64);
  const std::size_t a = driver.reserve(100);
  const std::size_t b = driver.reserve(64);
  const std::size_t c = driver.reserve(1);
  EXPECT_EQ(a % 64, 0u);
  EXPECT_GE(b, a + 128);
  EXPECT_GE(c, b + 64);
  EXPECT_EQ(driver.reserved(), 0u);
  EXPECT_EQ(driver.calls(), 3u);
  EXPECT_EQ(driver.base(), nullptr);
}

TEST(Driver, AddressesAreNotHandedOutTwice) {
  SimulatedDriver driver(1000, 64);
  const std::size_t a = driver.reserve(128);
  driver.release(a, 128);
  EXPECT_NE(driver.reserve(128), a);
}

TEST(Driver, CommitCountsUpToTheCapacity) {
  SimulatedDriver driver(256, 64);
  const std::size_t base = driver.reserve(1024);
  EXPECT_TRUE(driver.commit(base, 192));
  EXPECT_EQ(driver.reserved(), 192u);
  const std::size_t calls = driver.calls();
  EXPECT_FALSE(driver.commit(base + 192, 128));
  EXPECT_EQ(driver.reserved(), 192u);
  EXPECT_EQ(driver.calls(), calls);
  EXPECT_TRUE(driver.commit(base + 192, 64));
  EXPECT_FALSE(driver.commit(base + 256, 64));
  driver.decommit(base + 64, 64);
  EXPECT_EQ(driver.reserved(), 192u);
  EXPECT_TRUE(driver.commit(base + 256, 64));
}

TEST(Driver, TheLastPieceMayBeCutToTheCapacity) {
  SimulatedDriver driver(100, 64);
  const std::size_t base = driver.reserve(1024);
  EXPECT_EQ(driver.committable(1), 64u);
  EXPECT_EQ(driver.committable(64), 64u);
  EXPECT_EQ(driver.committable(65), 100u);
  EXPECT_EQ(driver.committable(101), 0u);
  ASSERT_TRUE(driver.commit(base, 64));
  EXPECT_EQ(driver.committable(1), 36u);
  EXPECT_EQ(driver.committable(36), 36u);
  EXPECT_EQ(driver.committable(37), 0u);
  EXPECT_THROW((void)driver.commit(base + 64, 10), ContractError);  // neither granule nor the rest
  ASSERT_TRUE(driver.commit(base + 64, 36));
  EXPECT_EQ(driver.reserved(), 100u);
  EXPECT_THROW(driver.decommit(base + 64, 20), ContractError);  // part of the last piece
  driver.decommit(base + 64, 36);
  EXPECT_EQ(driver.reserved(), 64u);
}

TEST(Driver, DecommitTakesPartsAndSpansOfCommits) {
  SimulatedDriver driver(1024, 64);
  const std::size_t base = driver.reserve(1024);
  ASSERT_TRUE(driver.commit(base, 64));
  ASSERT_TRUE(driver.commit(base + 128, 64));
  ASSERT_TRUE(driver.commit(base + 64, 64));  // joins both
  driver.decommit(base, 192);
  EXPECT_EQ(driver.reserved(), 0u);
  ASSERT_TRUE(driver.commit(base, 256));
  driver.decommit(base + 64, 64);
  EXPECT_THROW(driver.decommit(base + 64, 64), ContractError);
  EXPECT_THROW(driver.decommit(base, 128), ContractError);
  ASSERT_TRUE(driver.commit(base + 64, 64));
  driver.decommit(base, 256);
  driver.release(base, 1024);
}

TEST(Driver, WrongCallsAreContractErrors) {
  SimulatedDriver driver(1024, 64);
  const std::size_t base = driver.reserve(256);
  EXPECT_THROW(driver.reserve(0), ContractError);
  EXPECT_THROW(driver.reserve((std::size_t{1} << 63) + 1), ContractError);
  EXPECT_THROW((void)driver.commit(base, 0), ContractError);
  EXPECT_THROW((void)driver.commit(base + 1, 64), ContractError);
  EXPECT_THROW((void)driver.commit(base, 320), ContractError);       // past its range
  EXPECT_THROW((void)driver.commit(base + 256, 64), ContractError);  // no range
  EXPECT_THROW((void)driver.commit(base, ~std::size_t{0} - 63), ContractError);
  ASSERT_TRUE(driver.commit(base, 128));
  EXPECT_THROW((void)driver.commit(base + 64, 128), ContractError);  // twice
  EXPECT_THROW(driver.decommit(base + 64, 128), ContractError);
  EXPECT_THROW(driver.decommit(base, 0), ContractError);
  EXPECT_THROW(driver.release(base, 256), ContractError);  // still committed
  EXPECT_THROW(driver.release(base, 128), ContractError);  // not a whole range
  EXPECT_EQ(driver.reserved(), 128u);
  EXPECT_THROW(SimulatedDriver(1024, 0), ContractError);
}

TEST(Driver, ListenerHearsSuccessfulCalls) {
  SimulatedDriver driver(64, 64);
  std::vector<std::tuple<DriverCall, std::size_t, std::size_t>> heard;
  driver.on_call([&](DriverCall call, std::size_t offset, std::size_t bytes) {
    heard.emplace_back(call, offset, bytes);
  });
  const std::size_t base = driver.reserve(128);
  ASSERT_TRUE(driver.commit(base, 64));
  ASSERT_FALSE(driver.commit(base + 64, 64));
  driver.decommit(base, 64);
  driver.release(base, 128);
  const decltype(heard) expected = {{DriverCall::reserve, base, 128},
                                    {DriverCall::commit, base, 64},
                                    {DriverCall::decommit, base, 64},
                                    {DriverCall::release, base, 128}};
  EXPECT_EQ(heard, expected);
}

/// Refuses the commit that it is told to.
class RefusingDriver final : public Driver {
 public:
  using Driver::Driver;
  std::byte* base() const override { return nullptr; }
  bool refuses = false;

 private:
  void do_reserve(std::size_t, std::size_t) override {}
  void do_release(std::size_t, std::size_t) override {}
  bool do_commit(std::size_t, std::size_t) override { return !refuses; }
  void do_decommit(std::size_t, std::size_t) override {}
};

TEST(Driver, ARefusedCommitLeavesEverythingUnchanged) {
  RefusingDriver driver(1024, 64);
  const std::size_t base = driver.reserve(1024);
  ASSERT_TRUE(driver.commit(base, 64));
  const std::size_t calls = driver.calls();
  driver.refuses = true;
  EXPECT_FALSE(driver.commit(base + 64, 64));
  EXPECT_EQ(driver.reserved(), 64u);
  EXPECT_EQ(driver.calls(), calls);
  EXPECT_EQ(driver.committable(960), 960u);
  driver.refuses = false;
  EXPECT_TRUE(driver.commit(base + 64, 64));
}

using Pieces = std::vector<Driver::Piece>;

TEST(Driver, MappedMemoryCountsOnceAndIsTheSources) {
  SimulatedDriver driver(1024, 64);
  const std::size_t home = driver.reserve(1024, Sharing::shareable);
  const std::size_t other = driver.reserve(1024);
  ASSERT_TRUE(driver.commit(home, 512));
  ASSERT_TRUE(driver.map(other, home + 256, 128));
  ASSERT_TRUE(driver.map(other + 128, home, 64));
  EXPECT_EQ(driver.reserved(), 512u);
  EXPECT_EQ(driver.memory_behind(other, 192), (Pieces{{home + 256, 128}, {home, 64}}));
  EXPECT_EQ(driver.memory_behind(other + 100, 60), (Pieces{{home + 356, 28}, {home, 32}}));
  EXPECT_EQ(driver.memory_behind(home + 10, 500), (Pieces{{home + 10, 500}}));
  driver.unmap(other, 128);
  EXPECT_EQ(driver.memory_behind(other + 128, 64), (Pieces{{home, 64}}));
  EXPECT_THROW(driver.memory_behind(other, 192), ContractError);
  EXPECT_THROW(driver.memory_behind(other + 128, 65), ContractError);
  EXPECT_THROW(driver.memory_behind(home + 500, 13), ContractError);
}

TEST(Driver, MappedMemoryStaysWhereItIs) {
  SimulatedDriver driver(1024, 64);
  const std::size_t home = driver.reserve(1024, Sharing::shareable);
  const std::size_t other = driver.reserve(128);
  ASSERT_TRUE(driver.commit(home, 512));
  ASSERT_TRUE(driver.map(other, home + 64, 128));
  EXPECT_THROW(driver.decommit(home, 512), ContractError) << "it is seen elsewhere";
  EXPECT_THROW(driver.release(other, 128), ContractError);
  EXPECT_THROW(driver.unmap(other, 64), ContractError) << "in part";
  driver.decommit(home + 192, 320);
  driver.decommit(home, 64);
  driver.unmap(other, 128);
  driver.decommit(home + 64, 128);
  driver.release(other, 128);
  EXPECT_EQ(driver.reserved(), 0u);
}

TEST(Driver, MappingWhatCannotBeMappedIsMisuse) {
  SimulatedDriver driver(1024, 64);
  const std::size_t home = driver.reserve(512, Sharing::shareable);
  const std::size_t plain = driver.reserve(512);
  const std::size_t other = driver.reserve(128);
  ASSERT_TRUE(driver.commit(home, 128));
  ASSERT_TRUE(driver.commit(plain, 128));
  EXPECT_THROW((void)driver.map(other, plain, 64), ContractError) << "not shareable";
  EXPECT_THROW((void)driver.map(other, home + 64, 128), ContractError) << "not committed";
  EXPECT_THROW((void)driver.map(other, home, 63), ContractError) << "no granule";
  EXPECT_THROW((void)driver.map(other + 1, home, 64), ContractError);
  EXPECT_THROW((void)driver.map(other, home + 1, 64), ContractError);
  EXPECT_THROW((void)driver.map(other, home, 0), ContractError);
  EXPECT_THROW((void)driver.map(plain, home, 64), ContractError) << "there is memory";
  EXPECT_THROW((void)driver.map(other + 64, home, 128), ContractError) << "past the range";
  ASSERT_TRUE(driver.map(other, home, 64));
  EXPECT_THROW((void)driver.map(other, home, 64), ContractError) << "mapped already";
  EXPECT_THROW((void)driver.map(other + 64, other, 64), ContractError) << "only from where it is";
  EXPECT_THROW((void)driver.commit(other, 64), ContractError);
}

TEST(Driver, SomeDriversCannotMap) {
  RefusingDriver driver(1024, 64);
  const std::size_t home = driver.reserve(512, Sharing::shareable);
  const std::size_t other = driver.reserve(512);
  ASSERT_TRUE(driver.commit(home, 128));
  EXPECT_FALSE(driver.map(other, home, 64));
  EXPECT_THROW(driver.unmap(other, 64), ContractError);
}

TEST(Driver, AnUnlimitedCapacityIsAFigureLikeAnyOther) {
  SimulatedDriver driver(kUnlimited, std::size_t{2} << 20);
  const std::size_t base = driver.reserve(kUnlimited);
  EXPECT_TRUE(driver.commit(base, kUnlimited));
  EXPECT_EQ(driver.reserved(), kUnlimited);
  EXPECT_EQ(driver.committable(1), 0u);
}

}  // namespace
}  // namespace arenagrad
