#include "allocator/ledger.h"

#include <gtest/gtest.h>

#include <string>

#include "allocator/error.h"

namespace arenagrad {
namespace {

BufferId id_of(std::uint32_t i) { return BufferId{i}; }

Request request(std::uint32_t id, std::size_t bytes, Category category = Category::activation) {
  return {id_of(id), bytes, 8, category};
}

/// What `action` complains about.
template <class Action>
std::string complaint(Action action) {
  try {
    action();
  } catch (const ContractError& error) {
    return error.what();
  }
  return "";
}

/// A ledger fed by a strategy that stacks buffers and is honest unless told otherwise.
class LedgerTest : public ::testing::Test {
 protected:
  void commit(std::size_t bytes) {
    ledger_.driver_called(DriverCall::commit, usage_.reserved, bytes);
    usage_.reserved += bytes;
  }
  void allocate(std::uint32_t id, std::size_t bytes, Category category = Category::activation) {
    const std::size_t granted = round_up(bytes, 8);
    const std::size_t reused = std::min(usage_.free, granted);
    usage_.free -= reused;
    usage_.footprint += granted - reused;
    ledger_.allocated(request(id, bytes, category), {0, granted}, usage_);
  }
  void free(std::uint32_t id, std::size_t bytes) {
    usage_.free += round_up(bytes, 8);
    ledger_.freed(id_of(id), usage_);
  }

  Ledger ledger_{true};
  Usage usage_{0, 0, 0};
};

TEST_F(LedgerTest, Totals) {
  ledger_.driver_called(DriverCall::reserve, 0, 4096);
  commit(1024);
  allocate(0, 100, Category::parameter);
  allocate(1, 33, Category::workspace);
  Totals totals = ledger_.totals();
  EXPECT_EQ(totals.live[static_cast<std::size_t>(Category::parameter)], 100u);
  EXPECT_EQ(totals.live[static_cast<std::size_t>(Category::workspace)], 33u);
  EXPECT_EQ(totals.requested, 133u);
  EXPECT_EQ(totals.granted, 144u);
  EXPECT_EQ(totals.footprint, 144u);
  EXPECT_EQ(totals.reserved, 1024u);
  EXPECT_EQ(ledger_.events(), 4u);
  EXPECT_EQ(ledger_.live_now(), (std::vector{id_of(0), id_of(1)}));

  free(0, 100);
  allocate(2, 7, Category::input);
  totals = ledger_.totals();
  EXPECT_EQ(totals.requested, 40u);
  EXPECT_EQ(totals.granted, 48u);
  EXPECT_EQ(totals.peak_granted, 144u);
  EXPECT_EQ(totals.footprint, 144u);
  EXPECT_EQ(totals.allocations, 3u);
  EXPECT_EQ(totals.frees, 1u);
  EXPECT_EQ(totals.driver_calls, 2u);
  EXPECT_EQ(ledger_.live_now(), (std::vector{id_of(1), id_of(2)}));
}

TEST_F(LedgerTest, ReservedFollowsTheDriver) {
  commit(1024);
  commit(512);
  ledger_.driver_called(DriverCall::decommit, 1024, 512);
  EXPECT_EQ(ledger_.totals().reserved, 1024u);
  EXPECT_EQ(ledger_.totals().peak_reserved, 1536u);
  EXPECT_THROW(ledger_.driver_called(DriverCall::decommit, 0, 1025), ContractError);
}

TEST_F(LedgerTest, PeakIsTheFirstHighest) {
  commit(1024);
  ledger_.at(70);
  allocate(0, 100, Category::parameter);
  ledger_.at(71);
  allocate(1, 50);  // the peak, event 3
  ledger_.at(72);
  free(1, 50);
  allocate(2, 50);  // as high, but later
  const Snapshot peak = ledger_.peak();
  EXPECT_EQ(peak.event, 3u);
  EXPECT_EQ(peak.position, 71u);
  EXPECT_EQ(peak.requested, 150u);
  EXPECT_EQ(peak.by_category[static_cast<std::size_t>(Category::parameter)], 100u);
  EXPECT_EQ(peak.by_category[static_cast<std::size_t>(Category::activation)], 50u);
  EXPECT_EQ(ledger_.live_at_peak(), (std::vector{id_of(0), id_of(1)}));
  allocate(3, 1);
  EXPECT_EQ(ledger_.peak().event, 6u);
  EXPECT_EQ(ledger_.live_at_peak(), (std::vector{id_of(0), id_of(2), id_of(3)}));
}

TEST_F(LedgerTest, PeakGoesByRequestedBytesNotByGranted) {
  commit(1024);
  allocate(0, 64);
  free(0, 64);
  for (std::uint32_t i = 1; i <= 9; ++i) allocate(i, 1);  // 72 granted, 9 requested
  EXPECT_EQ(ledger_.peak().requested, 64u);
  EXPECT_EQ(ledger_.totals().peak_granted, 72u);
}

TEST_F(LedgerTest, NoPeakBeforeTheFirstAllocation) {
  EXPECT_EQ(ledger_.peak().event, 0u);
  EXPECT_TRUE(ledger_.live_at_peak().empty());
}

TEST_F(LedgerTest, LiveAtPeakSurvivesLaterLives) {
  commit(4096);
  allocate(0, 100);
  allocate(1, 300);
  allocate(2, 8);  // peak 408
  free(1, 300);
  allocate(3, 8);  // born after the peak
  for (int round = 0; round < 3; ++round) {
    free(2, 8);
    allocate(2, 8);  // lives again
    free(0, 100);
    allocate(0, 100);
  }
  free(3, 8);
  EXPECT_EQ(ledger_.peak().requested, 408u);
  EXPECT_EQ(ledger_.live_at_peak(), (std::vector{id_of(0), id_of(1), id_of(2)}));
  allocate(4, 400);  // 508
  EXPECT_EQ(ledger_.live_at_peak(), (std::vector{id_of(0), id_of(2), id_of(4)}));
  free(0, 100);
  free(2, 8);
  free(4, 400);
  EXPECT_EQ(ledger_.live_at_peak(), (std::vector{id_of(0), id_of(2), id_of(4)}));
}

TEST_F(LedgerTest, LogHoldsEveryEvent) {
  commit(64);
  allocate(3, 5, Category::stash);
  free(3, 5);
  const std::vector<Event> expected = {{Event::Kind::commit, {}, kNoBuffer, 64, 0, 0},
                                       {Event::Kind::allocate, Category::stash, id_of(3), 5, 8, 0},
                                       {Event::Kind::free, Category::stash, id_of(3), 5, 8, 0}};
  EXPECT_EQ(ledger_.log(), expected);
  EXPECT_TRUE(Ledger().log().empty());
}

TEST(Ledger, DigestSeesEveryFieldAndTheOrder) {
  const auto digest = [](auto feed) {
    Ledger ledger;
    ledger.driver_called(DriverCall::commit, 0, 1024);
    feed(ledger);
    return ledger.digest();
  };
  const auto one = [&](Request r, Placement p) {
    return digest([&](Ledger& l) { l.allocated(r, p, {p.granted, 1024, 0}); });
  };
  const std::uint64_t base = one(request(1, 8), {0, 8});
  EXPECT_EQ(base, one(request(1, 8), {0, 8}));
  EXPECT_NE(base, one(request(2, 8), {0, 8}));
  EXPECT_NE(base, one(request(1, 7), {0, 8}));
  EXPECT_NE(base, one(request(1, 8), {8, 8}));
  EXPECT_NE(base, one(request(1, 8), {0, 16}));
  EXPECT_NE(base, one(request(1, 8, Category::input), {0, 8}));
  EXPECT_NE(base, digest([](Ledger&) {}));
  const auto two = [&](std::uint32_t a, std::uint32_t b) {
    return digest([&](Ledger& l) {
      l.allocated(request(a, 8), {0, 8}, {8, 1024, 0});
      l.allocated(request(b, 8), {0, 8}, {16, 1024, 0});
    });
  };
  EXPECT_NE(two(1, 2), two(2, 1));
  EXPECT_NE(digest([](Ledger& l) { l.driver_called(DriverCall::reserve, 0, 8); }),
            digest([](Ledger& l) { l.driver_called(DriverCall::release, 0, 8); }));
}

TEST_F(LedgerTest, BooksThatDoNotBalance) {
  commit(128);
  allocate(0, 10);
  const auto try_with = [&](const Usage& usage) {
    Ledger copy = ledger_;
    return complaint([&] { copy.allocated(request(1, 8), {16, 8}, usage); });
  };
  EXPECT_EQ(try_with({24, 128, 0}), "");
  EXPECT_NE(try_with({25, 128, 0}).find("holes is not the footprint"), std::string::npos);
  EXPECT_NE(try_with({24, 128, 1}).find("holes is not the footprint"), std::string::npos);
  EXPECT_NE(try_with({24, 127, 0}).find("driver calls do not sum"), std::string::npos);
  EXPECT_NE(try_with({136, 128, 112}).find("footprint passes"), std::string::npos);
  EXPECT_NE(try_with({25, 128, 0}).find("event 3 (allocate of buffer 1, 8 bytes)"),
            std::string::npos);
  Ledger copy = ledger_;
  EXPECT_NE(complaint([&] {
              copy.freed(id_of(0), {16, 128, 15});
            }).find("event 3 (free"),
            std::string::npos);
}

TEST_F(LedgerTest, TheFootprintFallsOnlyWithDecommittedMemory) {
  commit(128);
  allocate(0, 64);
  Ledger copy = ledger_;
  EXPECT_NE(complaint([&] {
              copy.freed(id_of(0), {0, 128, 0});
            }).find("footprint fell"),
            std::string::npos);
  ledger_.driver_called(DriverCall::decommit, 64, 64);
  ledger_.freed(id_of(0), {0, 64, 0});
  EXPECT_EQ(ledger_.totals().footprint, 64u) << "the highest";
  ledger_.allocated(request(1, 8), {0, 8}, {8, 64, 0});
  EXPECT_NE(complaint([&] {
              ledger_.freed(id_of(1), {0, 64, 0});
            }).find("footprint fell"),
            std::string::npos)
      << "that decommit was accounted for";
}

TEST_F(LedgerTest, ImpossibleEvents) {
  commit(128);
  allocate(0, 8);
  EXPECT_THROW(ledger_.allocated(request(0, 8), {8, 8}, {16, 128, 0}), ContractError);
  EXPECT_THROW(ledger_.allocated(request(1, 9), {8, 8}, {16, 128, 0}), ContractError);
  EXPECT_THROW(ledger_.freed(id_of(5), usage_), ContractError);
  free(0, 8);
  EXPECT_THROW(ledger_.freed(id_of(0), usage_), ContractError);
}

TEST_F(LedgerTest, Expectations) {
  commit(128);
  std::vector<Event> program = {{Event::Kind::allocate, {}, id_of(0), 8, 0, 0},
                                {Event::Kind::free, {}, id_of(0), 8, 0, 0}};
  std::size_t next = 0;
  ledger_.expect([&]() -> std::optional<Event> {
    return next < program.size() ? std::optional(program[next++]) : std::nullopt;
  });
  allocate(0, 8);
  commit(64);  // driver calls are nobody's expectation
  free(0, 8);
  const std::uint64_t events = ledger_.events();
  EXPECT_NE(complaint([&] { allocate(1, 8); }).find("expected none; got allocate of buffer 1"),
            std::string::npos);
  EXPECT_EQ(ledger_.events(), events) << "not recorded";
}

TEST_F(LedgerTest, ExpectationsCompareKindBufferAndBytes) {
  commit(128);
  const auto meets = [&](const Event& expected) {
    Ledger copy = ledger_;
    copy.expect([&] { return std::optional(expected); });
    return complaint([&] { copy.allocated(request(1, 8), {0, 8}, {8, 128, 0}); });
  };
  EXPECT_EQ(meets({Event::Kind::allocate, Category::library, id_of(1), 8, 99, 99}), "");
  EXPECT_NE(meets({Event::Kind::free, {}, id_of(1), 8, 0, 0}), "");
  EXPECT_NE(meets({Event::Kind::allocate, {}, id_of(2), 8, 0, 0}), "");
  EXPECT_NE(meets({Event::Kind::allocate, {}, id_of(1), 7, 0, 0})
                .find("expected allocate of buffer 1, 7 bytes; got allocate of buffer 1, 8 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace arenagrad
