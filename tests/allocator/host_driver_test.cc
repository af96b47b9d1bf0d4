#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "allocator/driver.h"
#include "allocator/error.h"
#include "allocator/request.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

constexpr std::size_t kPage = HostDriver::kPage;

bool all_equal(const std::byte* at, std::size_t bytes, int value) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != static_cast<std::byte>(value)) return false;
  }
  return true;
}

TEST(HostDriver, CommittedMemoryIsZeroAndWritable) {
  HostDriver driver(16 * kPage, 4 * kPage);
  EXPECT_EQ(driver.base(), nullptr);
  const std::size_t base = driver.reserve(16 * kPage);
  ASSERT_NE(driver.base(), nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(driver.base()) % kPage, 0u);
  ASSERT_TRUE(driver.commit(base, 8 * kPage));
  std::byte* at = driver.base() + base;
  EXPECT_TRUE(all_equal(at, 8 * kPage, 0));
  std::memset(at, 0x5a, 8 * kPage);
  ASSERT_TRUE(driver.commit(base + 8 * kPage, 4 * kPage));
  EXPECT_TRUE(all_equal(at, 8 * kPage, 0x5a));
  EXPECT_TRUE(all_equal(at + 8 * kPage, 4 * kPage, 0));
}

TEST(HostDriver, WhatIsGivenBackComesBackAsZero) {
  HostDriver driver(8 * kPage, kPage);
  const std::size_t base = driver.reserve(8 * kPage);
  ASSERT_TRUE(driver.commit(base, 4 * kPage));
  std::byte* at = driver.base() + base;
  std::memset(at, 0x77, 4 * kPage);
  driver.decommit(base + kPage, 2 * kPage);
  ASSERT_TRUE(driver.commit(base + kPage, 2 * kPage));
  EXPECT_TRUE(all_equal(at, kPage, 0x77));
  EXPECT_TRUE(all_equal(at + kPage, 2 * kPage, 0));
  EXPECT_TRUE(all_equal(at + 3 * kPage, kPage, 0x77));
}

TEST(HostDriver, ALastPieceThatIsNoWholePage) {
  HostDriver driver(kPage + 100, kPage);
  const std::size_t base = driver.reserve(4 * kPage);
  ASSERT_TRUE(driver.commit(base, kPage + 100));
  std::memset(driver.base() + base, 1, kPage + 100);
  EXPECT_FALSE(driver.commit(base + 2 * kPage, kPage)) << "past the capacity";
}

TEST(HostDriver, MappedMemoryIsTheSame) {
  HostDriver driver(16 * kPage, kPage);
  const std::size_t plain = driver.reserve(kPage);
  const std::size_t home = driver.reserve(8 * kPage, Sharing::shareable);
  const std::size_t other = driver.reserve(4 * kPage);
  ASSERT_TRUE(driver.commit(plain, kPage));
  ASSERT_TRUE(driver.commit(home, 8 * kPage));
  std::byte* at = driver.base();
  std::memset(at + home, 1, 8 * kPage);
  ASSERT_TRUE(driver.map(other, home + 5 * kPage, kPage));
  ASSERT_TRUE(driver.map(other + kPage, home + 2 * kPage, 2 * kPage));
  EXPECT_TRUE(all_equal(at + other, 3 * kPage, 1));
  std::memset(at + other, 2, 3 * kPage);
  EXPECT_TRUE(all_equal(at + home, 2 * kPage, 1));
  EXPECT_TRUE(all_equal(at + home + 2 * kPage, 2 * kPage, 2));
  EXPECT_TRUE(all_equal(at + home + 4 * kPage, kPage, 1));
  EXPECT_TRUE(all_equal(at + home + 5 * kPage, kPage, 2));
  driver.unmap(other, kPage);
  EXPECT_TRUE(all_equal(at + home + 5 * kPage, kPage, 2)) << "it stays the source's";
  driver.unmap(other + kPage, 2 * kPage);
  driver.decommit(home + kPage, 7 * kPage);
  ASSERT_TRUE(driver.commit(home + 4 * kPage, 2 * kPage));
  EXPECT_TRUE(all_equal(at + home, kPage, 1));
  EXPECT_TRUE(all_equal(at + home + 4 * kPage, 2 * kPage, 0)) << "new memory";
}

TEST(HostDriver, UnlimitedCapacity) {
  HostDriver driver(kUnlimited, std::size_t{2} << 20);
  const std::size_t base = driver.reserve(kUnlimited);
  ASSERT_TRUE(driver.commit(base, std::size_t{4} << 20));
  std::memset(driver.base() + base, 3, std::size_t{4} << 20);
  // Another one in the same process may get fewer addresses, but it works.
  HostDriver other(kUnlimited, std::size_t{2} << 20);
  const std::size_t other_base = other.reserve(kUnlimited);
  ASSERT_TRUE(other.commit(other_base, std::size_t{2} << 20));
  std::memset(other.base() + other_base, 4, std::size_t{2} << 20);
  EXPECT_TRUE(all_equal(driver.base() + base, std::size_t{4} << 20, 3));
}

// Three of them want more addresses than a process has: most ranges end early, and there a commit
// is refused instead of hitting what lies beyond.
TEST(HostDriver, CommitPastTheMappingIsRefused) {
  const std::size_t granule = std::size_t{2} << 20;
  std::vector<std::unique_ptr<HostDriver>> drivers;
  int reaching_the_end = 0;
  for (int i = 0; i < 3; ++i) {
    drivers.push_back(std::make_unique<HostDriver>(kUnlimited, granule));
    const std::size_t base = drivers.back()->reserve(kUnlimited);
    reaching_the_end += drivers.back()->commit(base + kUnlimited - granule, granule) ? 1 : 0;
    EXPECT_TRUE(drivers.back()->commit(base, granule));
  }
  EXPECT_LE(reaching_the_end, 1);
}

TEST(HostDriver, ManyDriversLiveInOneProcess) {
  std::vector<std::unique_ptr<HostDriver>> drivers;
  for (int i = 0; i < 20; ++i) {
    drivers.push_back(std::make_unique<HostDriver>(std::size_t{1} << 30, kPage));
    const std::size_t base = drivers.back()->reserve(std::size_t{1} << 30);
    ASSERT_TRUE(drivers.back()->commit(base, kPage));
    std::memset(drivers.back()->base() + base, i, kPage);
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(all_equal(drivers[i]->base(), kPage, i));
}

// More than any machine has, within the capacity.
TEST(HostDriver, WhatTheSystemRefusesIsAnOutOfMemoryThatSaysSo) {
  HostDriver driver(kUnlimited, std::size_t{2} << 20);
  const auto strategy = find_strategy("best-fit").make({driver, 64, {}});
  const Request small{BufferId{0}, 1000, 64, Category::activation};
  const Request absurd{BufferId{1}, std::size_t{1} << 45, 64, Category::activation};
  const std::size_t offset = strategy->place(small).offset;
  driver.base()[offset] = std::byte{9};
  try {
    strategy->place(absurd);
    GTEST_SKIP() << "this system promises any amount of memory";
  } catch (const OutOfMemory& error) {
    EXPECT_LE(error.needed, error.capacity);
    EXPECT_NE(std::string(error.what()).find("which the system refused"), std::string::npos);
  }
  EXPECT_EQ(driver.reserved(), std::size_t{2} << 20);
  EXPECT_EQ(driver.base()[offset], std::byte{9});
  strategy->release(small.id);
}

TEST(HostDriver, GranulesArePages) { EXPECT_THROW(HostDriver(kPage, 512), ContractError); }

using HostDriverDeathTest = ::testing::Test;

TEST(HostDriverDeathTest, UncommittedMemoryFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HostDriver driver(8 * kPage, kPage);
        const std::size_t base = driver.reserve(8 * kPage);
        if (driver.commit(base, kPage)) driver.base()[base + kPage] = std::byte{1};
      },
      "");
}

}  // namespace
}  // namespace arenagrad
