// A round that is counted again leaves the ledger as one that is executed again.
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "allocator/error.h"
#include "allocator/ledger.h"

namespace arenagrad {
namespace {

/// Feeds a ledger from a made-up program: buffers 0 and 1 stay, the others come and go, and so do
/// two granules of memory.
class Feeder {
 public:
  explicit Feeder(bool skip) : skip_(skip) {
    ledger.driver_called(DriverCall::commit, 0, 1 << 20);
    usage_.reserved = 1 << 20;
    allocate(0, 100);
    allocate(1, 50);
  }

  void allocate(std::uint32_t id, std::size_t bytes) {
    ledger.at(position_++);
    usage_.footprint += bytes - std::min(bytes, usage_.free);
    usage_.free -= std::min(bytes, usage_.free);
    ledger.allocated({BufferId{id}, bytes, 1, Category::activation}, {id * 1000u, bytes}, usage_);
    sizes_[id] = bytes;
  }

  void free(std::uint32_t id) {
    usage_.free += sizes_[id];
    ledger.freed(BufferId{id}, usage_);
  }

  void driver_round() {
    ledger.driver_called(DriverCall::commit, 1 << 20, 4096);
    ledger.driver_called(DriverCall::decommit, 1 << 20, 4096);
  }

  /// Runs `body` in `rounds` rounds, or once and counts the others.
  template <class Body>
  void repeat(std::uint64_t rounds, Body body) {
    for (std::uint64_t i = 0; i < (skip_ ? 1 : rounds); ++i) {
      const std::uint64_t position = position_;
      ledger.begin_round();
      body();
      ledger.end_round();
      position_ = position;
    }
    if (skip_) ledger.repeat_round(rounds - 1);
  }

  Ledger ledger{true};

 private:
  bool skip_;
  std::uint64_t position_ = 1;
  Usage usage_{0, 0, 0};
  std::size_t sizes_[10] = {};
};

template <class Program>
void expect_same(Program program) {
  Feeder executed(false), skipped(true);
  program(executed);
  program(skipped);
  EXPECT_EQ(executed.ledger.digest(), skipped.ledger.digest());
  EXPECT_EQ(executed.ledger.events(), skipped.ledger.events());
  EXPECT_EQ(executed.ledger.totals(), skipped.ledger.totals());
  EXPECT_EQ(executed.ledger.log(), skipped.ledger.log());
  EXPECT_EQ(executed.ledger.peak().event, skipped.ledger.peak().event);
  EXPECT_EQ(executed.ledger.peak().position, skipped.ledger.peak().position);
  EXPECT_EQ(executed.ledger.peak().by_category, skipped.ledger.peak().by_category);
  EXPECT_EQ(executed.ledger.live_at_peak(), skipped.ledger.live_at_peak());
  EXPECT_EQ(executed.ledger.live_now(), skipped.ledger.live_now());
}

void plain_round(Feeder& f) {
  f.allocate(2, 30);
  f.allocate(3, 10);
  f.free(2);
  f.free(1);
  f.allocate(1, 50);  // dies and lives again within the round
  f.driver_round();
  f.free(3);
}

TEST(LedgerRounds, OneRoundRepeated) {
  expect_same([](Feeder& f) {
    // The first round sets the footprint, so the ones after it are alike.
    plain_round(f);
    f.repeat(7, [&] { plain_round(f); });
  });
}

TEST(LedgerRounds, ALaterPeak) {
  expect_same([](Feeder& f) {
    plain_round(f);
    f.repeat(4, [&] { plain_round(f); });
    f.allocate(2, 1000);
    f.free(1);
    f.repeat(2, [&] { f.driver_round(); });
  });
}

TEST(LedgerRounds, ThePeakInsideARound) {
  expect_same([](Feeder& f) {
    f.allocate(9, 500);
    f.free(0);
    f.free(9);  // the footprint is high, the requested peak is yet to come
    f.repeat(5, [&] {
      f.allocate(2, 30);
      f.allocate(4, 450);
      f.free(4);
      f.allocate(3, 10);
      f.free(2);
      f.free(3);
    });
    f.allocate(4, 5);
  });
}

TEST(LedgerRounds, NestedRounds) {
  expect_same([](Feeder& f) {
    plain_round(f);
    f.repeat(3, [&] {
      f.allocate(4, 20);
      f.repeat(5, [&] {
        f.allocate(5, 2);
        f.repeat(2, [&] { f.driver_round(); });
        f.free(5);
      });
      f.free(4);
      f.repeat(4, [&] { f.driver_round(); });
    });
  });
}

TEST(LedgerRounds, CountsOfRepeatsAdd) {
  Feeder a(true), b(true);
  for (Feeder* f : {&a, &b}) {
    plain_round(*f);
    f->repeat(1, [&] { plain_round(*f); });
  }
  a.ledger.repeat_round(5);
  b.ledger.repeat_round(2);
  b.ledger.repeat_round(0);
  b.ledger.repeat_round(3);
  EXPECT_EQ(a.ledger.digest(), b.ledger.digest());
  EXPECT_EQ(a.ledger.totals(), b.ledger.totals());
  const std::uint64_t digest = a.ledger.digest();
  a.ledger.repeat_round(1);
  EXPECT_NE(a.ledger.digest(), digest);
}

// As many as no loop gets through: the digest of n rounds is made by doubling.
TEST(LedgerRounds, AnyNumberOfRoundsTakesNoTime) {
  const auto after = [](std::initializer_list<std::uint64_t> repeats) {
    Ledger ledger;
    ledger.begin_round();
    ledger.driver_called(DriverCall::commit, 0, 64);
    ledger.driver_called(DriverCall::decommit, 0, 64);
    ledger.end_round();
    for (const std::uint64_t n : repeats) ledger.repeat_round(n);
    return std::pair(ledger.events(), ledger.digest());
  };
  constexpr std::uint64_t many = 1'000'000'000'000'000;
  EXPECT_EQ(after({many}).first, 2 * (many + 1));
  EXPECT_EQ(after({many}), after({many - 12345, 12340, 5}));
  EXPECT_NE(after({many}).second, after({many - 1}).second);
  EXPECT_EQ(after({3}), after({1, 1, 1}));
}

TEST(LedgerRounds, TheDigestKnowsTheOrderOfRounds) {
  const auto digest = [](std::initializer_list<std::size_t> rounds) {
    Ledger ledger;
    for (const std::size_t bytes : rounds) {
      ledger.begin_round();
      ledger.driver_called(DriverCall::reserve, 0, bytes);
      ledger.end_round();
    }
    return ledger.digest();
  };
  EXPECT_NE(digest({8, 16}), digest({16, 8}));
  EXPECT_NE(digest({8, 8, 16}), digest({8, 16, 16}));
  EXPECT_EQ(digest({8, 16}), digest({8, 16}));
}

TEST(LedgerRounds, TheDigestKnowsWhereRoundsAre) {
  Feeder once(false), twice(false);
  once.repeat(1, [&] { once.driver_round(), once.driver_round(); });
  twice.repeat(2, [&] { twice.driver_round(); });
  EXPECT_NE(once.ledger.digest(), twice.ledger.digest());
}

TEST(LedgerRounds, OnlyTheRoundJustEndedRepeats) {
  Feeder f(false);
  EXPECT_THROW(f.ledger.repeat_round(1), ContractError) << "there is none";
  f.repeat(1, [&] { f.driver_round(); });
  f.ledger.begin_round();
  EXPECT_THROW(f.ledger.repeat_round(1), ContractError) << "another has begun";
  f.ledger.end_round();
  f.ledger.repeat_round(1);
  f.driver_round();
  EXPECT_THROW(f.ledger.repeat_round(1), ContractError) << "something has happened since";
  EXPECT_THROW(f.ledger.end_round(), ContractError) << "none is open";
}

TEST(LedgerRounds, ARoundThatLeavesSomethingBehindDoesNotRepeat) {
  Feeder f(false);
  f.repeat(1, [&] { f.allocate(2, 8); });
  EXPECT_THROW(f.ledger.repeat_round(1), ContractError);
}

TEST(LedgerRounds, ARoundThatChangesOnlyTheRoundingDoesNotRepeat) {
  Ledger ledger;
  ledger.driver_called(DriverCall::commit, 0, 64);
  const Request request{BufferId{0}, 8, 8, Category::activation};
  ledger.allocated(request, {0, 16}, {16, 64, 0});
  ledger.begin_round();
  ledger.freed(request.id, {16, 64, 16});
  ledger.allocated(request, {0, 8}, {16, 64, 8});
  ledger.end_round();
  EXPECT_THROW(ledger.repeat_round(1), ContractError);
}

}  // namespace
}  // namespace arenagrad
