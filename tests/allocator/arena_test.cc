#include "allocator/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace arenagrad {
namespace {

constexpr std::size_t kGranule = 4096;

Request request(std::uint32_t id, std::size_t bytes, Category category = Category::activation) {
  return {BufferId{id}, bytes, 64, category};
}

TEST(Arena, WritesDownWhatTheDriverAndTheStrategyDo) {
  SimulatedDriver driver(kUnlimited, kGranule);
  Ledger ledger(true);
  Arena arena(driver, ledger, find_strategy("best-fit"), 64, {});
  EXPECT_EQ(arena.base(), nullptr);
  EXPECT_EQ(arena.alignment(), 64u);
  arena.allocate(request(0, 100));
  arena.free(BufferId{0});
  const std::vector<Event> expected = {
      {Event::Kind::reserve, {}, kNoBuffer, kUnlimited, 0, 0},
      {Event::Kind::commit, {}, kNoBuffer, kGranule, 0, 0},
      {Event::Kind::allocate, Category::activation, BufferId{0}, 100, 128, 0},
      {Event::Kind::free, Category::activation, BufferId{0}, 100, 128, 0}};
  EXPECT_EQ(ledger.log(), expected);
  EXPECT_EQ(ledger.totals().reserved, driver.reserved());
}

TEST(Arena, LeavesTheDriverAloneAfterItsEnd) {
  SimulatedDriver driver(kUnlimited, kGranule);
  Ledger ledger;
  { Arena arena(driver, ledger, find_strategy("bump"), 64, {}); }
  const std::uint64_t events = ledger.events();
  driver.reserve(1);
  EXPECT_EQ(ledger.events(), events);
}

TEST(Arena, NeedsAFreshDriverAndAPowerOfTwo) {
  SimulatedDriver driver(kUnlimited, kGranule);
  Ledger ledger;
  EXPECT_THROW(Arena(driver, ledger, find_strategy("bump"), 48, {}), ContractError);
  EXPECT_THROW(Arena(driver, ledger, find_strategy("bump"), 0, {}), ContractError);
  ASSERT_TRUE(driver.commit(driver.reserve(kGranule), kGranule));
  EXPECT_THROW(Arena(driver, ledger, find_strategy("bump"), 64, {}), ContractError);
}

TEST(Arena, OutOfMemoryTellsAllFiguresInOneLine) {
  SimulatedDriver driver(3000, 1024);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), 64, {});
  arena.allocate(request(0, 1000, Category::parameter));
  arena.allocate(request(1, 500, Category::activation));
  arena.allocate(request(2, 700, Category::parameter));
  arena.free(BufferId{1});
  try {
    arena.allocate(request(3, 1500, Category::workspace));
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.live[static_cast<std::size_t>(Category::parameter)], 1700u);
    EXPECT_EQ(error.granted, 1536u);
    EXPECT_EQ(error.needed, 3776u);
    EXPECT_STREQ(
        error.what(),
        "out of memory: workspace of 1.46 KiB (1,500 B), granted 1.50 KiB (1,536 B), does not fit; "
        "expected a footprint of at most the capacity, 2.93 KiB (3,000 B), got a need for 3.69 KiB "
        "(3,776 B); footprint 2.19 KiB (2,240 B), holes 512 B, largest hole 512 B, reserved 2.93 "
        "KiB (3,000 B); live: parameter 1.66 KiB (1,700 B)");
  }
  EXPECT_EQ(ledger.totals().allocations, 3u);
  arena.allocate(request(3, 700, Category::workspace));  // 704 fit, and 56 are left
}

TEST(Arena, OutOfMemoryWithNothingLive) {
  SimulatedDriver driver(100, 1024);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("first-fit"), 64, {});
  try {
    arena.allocate(request(0, 1000));
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("live: nothing"), std::string::npos);
  }
}

TEST(Arena, NewMemoryIsZeroUnlessFilled) {
  HostDriver driver(kUnlimited, kGranule);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), 64, {});
  const Placement zero = arena.allocate(request(0, 1000));
  const std::byte* at = arena.base() + zero.offset;
  EXPECT_EQ(std::count(at, at + zero.granted, std::byte{0}),
            static_cast<std::ptrdiff_t>(zero.granted));
}

TEST(Arena, FillsTheWholeGrant) {
  HostDriver driver(kUnlimited, kGranule);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), 64, {});
  arena.fill_new_memory_with(std::byte{0xff});
  for (int round = 0; round < 2; ++round) {  // fresh memory, then memory that was written to
    const Placement placement = arena.allocate(request(0, 1000));
    std::byte* at = arena.base() + placement.offset;
    EXPECT_EQ(std::count(at, at + placement.granted, std::byte{0xff}),
              static_cast<std::ptrdiff_t>(placement.granted));
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    EXPECT_TRUE(std::isnan(value));
    std::memset(at, 1, placement.granted);
    arena.free(BufferId{0});
  }
  arena.fill_new_memory_with(std::nullopt);
  const Placement placement = arena.allocate(request(0, 1000));
  EXPECT_EQ(arena.base()[placement.offset], std::byte{1}) << "as it was left";
}

TEST(Arena, FillingIsForMemoryThatIsThere) {
  SimulatedDriver driver(kUnlimited, kGranule);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), 64, {});
  arena.fill_new_memory_with(std::byte{0xff});
  EXPECT_EQ(arena.allocate(request(0, 1000)).granted, 1024u);
}

// What is planned without memory is what is observed with it.
TEST(Arena, ADryRunEqualsARealOne) {
  for (const StrategyInfo& info : strategies()) {
    std::vector<Lifetime> lifetimes;
    for (std::uint32_t i = 0; i < 40; ++i) {
      lifetimes.push_back({BufferId{i}, 100 + i * 37, 64, i, i + 5});
    }
    Ledger dry(true), real(true);
    const auto run = [&](Driver& driver, Ledger& ledger) {
      Arena arena(driver, ledger, info, 64, lifetimes);
      for (std::uint32_t t = 0; t < 45; ++t) {
        if (t >= 5) arena.free(BufferId{t - 5});
        if (t < 40) arena.allocate(request(t, lifetimes[t].bytes));
      }
    };
    SimulatedDriver simulated(std::size_t{1} << 30, kGranule);
    HostDriver host(std::size_t{1} << 30, kGranule);
    run(simulated, dry);
    run(host, real);
    EXPECT_EQ(dry.log(), real.log()) << info.name;
    EXPECT_EQ(dry.digest(), real.digest()) << info.name;
  }
}

}  // namespace
}  // namespace arenagrad
