// The strategy of opaque pools: its calls of the driver, which alone are its own.
#include <gtest/gtest.h>

#include "allocator/arena.h"

namespace arenagrad {
namespace {

const StrategyInfo& pool_async() { return find_strategy("pool-async"); }

Request request(std::uint32_t id, std::size_t bytes) {
  return {.id = BufferId{id}, .bytes = bytes, .alignment = 256, .category = Category::activation};
}

TEST(PoolAsync, CommitsWhatIsAskedForAndNothingElse) {
  SimulatedDriver driver(1000, 1);
  Ledger ledger(true);
  Arena arena(driver, ledger, pool_async(), 256, {});
  arena.allocate(request(0, 100));
  arena.allocate(request(1, 7));
  EXPECT_EQ(driver.reserved(), 107u);
  EXPECT_EQ(ledger.totals().granted, 107u);
  EXPECT_EQ(ledger.totals().footprint, 107u);
  arena.free(BufferId{0});
  EXPECT_EQ(driver.reserved(), 7u);
  arena.free(BufferId{1});
  EXPECT_EQ(driver.reserved(), 0u);
  std::size_t commits = 0, decommits = 0;
  for (const Event& event : ledger.log()) {
    commits += event.kind == Event::Kind::commit ? event.requested : 0;
    decommits += event.kind == Event::Kind::decommit ? event.requested : 0;
  }
  EXPECT_EQ(commits, 107u);
  EXPECT_EQ(decommits, 107u);
}

/// So that a dry run may skip rounds, and has the digest of a run that doesn't.
TEST(PoolAsync, ABufferThatComesAgainMakesTheSameCalls) {
  SimulatedDriver driver(1000, 1);
  Ledger ledger;
  Arena arena(driver, ledger, pool_async(), 256, {});
  const auto round = [&] {
    const Placement first = arena.allocate(request(0, 300));
    const Placement second = arena.allocate(request(1, 200));
    arena.free(BufferId{0});
    arena.free(BufferId{1});
    EXPECT_NE(first.offset, second.offset);
    return first;
  };
  const auto before = arena.strategy().fingerprint();
  const Placement once = round();
  const auto after = arena.strategy().fingerprint();
  EXPECT_NE(before, after);
  const std::size_t calls = driver.calls();
  EXPECT_EQ(round(), once);
  EXPECT_EQ(arena.strategy().fingerprint(), after);
  EXPECT_EQ(driver.calls() - calls, 4u);
  arena.allocate(request(0, 300));
  EXPECT_NE(arena.strategy().fingerprint(), after);
  EXPECT_THROW(arena.allocate(request(0, 300)), ContractError);
}

TEST(PoolAsync, TheCapacityIsOfTheRequests) {
  SimulatedDriver driver(400, 1);
  Ledger ledger;
  Arena arena(driver, ledger, pool_async(), 256, {});
  arena.allocate(request(0, 300));
  try {
    arena.allocate(request(1, 101));
    FAIL() << "more than the capacity";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.needed, 401u);
    EXPECT_EQ(error.capacity, 400u);
    EXPECT_EQ(error.usage.footprint, 300u);
    EXPECT_EQ(error.live[static_cast<std::size_t>(Category::activation)], 300u);
  }
  arena.allocate(request(2, 100));
  EXPECT_EQ(driver.reserved(), 400u);
}

TEST(PoolAsync, WantsADriverWithoutAGranule) {
  SimulatedDriver driver(1000, 64);
  Ledger ledger;
  EXPECT_THROW(Arena(driver, ledger, pool_async(), 256, {}), ContractError);
}

}  // namespace
}  // namespace arenagrad
