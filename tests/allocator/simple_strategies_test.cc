// TLSF, buddies, BFC and stitching, by hand.
#include <gtest/gtest.h>

#include "allocator/strategy.h"
#include "tests/allocator/traces.h"

namespace arenagrad {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

BufferId id_of(int i) { return BufferId{static_cast<std::uint32_t>(i)}; }

class Allocator {
 public:
  explicit Allocator(std::string_view name, std::size_t capacity = kUnlimited,
                     std::size_t granule = 1, std::size_t alignment = 1)
      : driver_(capacity, granule), strategy_(find_strategy(name).make({driver_, alignment, {}})) {}

  Placement place(int id, std::size_t bytes, Category category = Category::activation) {
    return strategy_->place({id_of(id), bytes, 1, category});
  }
  void release(int id) { strategy_->release(id_of(id)); }
  /// Holes of these sizes, between live bytes; ids from 100 on.
  void dig(std::initializer_list<std::size_t> holes) {
    int id = 100;
    for (const std::size_t bytes : holes) {
      place(id++, bytes);
      place(id++, 1);
    }
    id = 100;
    for (std::size_t i = 0; i < holes.size(); ++i, id += 2) release(id);
  }
  std::size_t footprint() const { return strategy_->usage().footprint; }
  AllocationStrategy& operator*() { return *strategy_; }
  const Driver& driver() const { return driver_; }

 private:
  SimulatedDriver driver_;
  std::unique_ptr<AllocationStrategy> strategy_;
};

TEST(Tlsf, TakesTheNewestHoleOfAClass) {
  Allocator a("tlsf");
  a.dig({1000, 1010});  // of [992, 1008) and [1008, 1024)
  EXPECT_EQ(a.place(0, 990).offset, 0u) << "the lower class";
  Allocator b("tlsf");
  b.dig({1001, 1000});
  EXPECT_EQ(b.place(0, 980).offset, 1002u) << "one class: the last to be freed";
}

TEST(Tlsf, PassesOverAHoleThatMayBeTooSmall) {
  Allocator a("tlsf");
  a.dig({1001});
  EXPECT_EQ(a.place(0, 993).offset, 1002u) << "some of [992, 1008) would be too small";
  EXPECT_EQ(a.place(1, 992).offset, 0u);
}

TEST(Tlsf, SmallSizesHaveClassesOfTheirOwn) {
  Allocator a("tlsf");
  a.dig({31, 30, 29});
  EXPECT_EQ(a.place(0, 30).offset, 32u);
  EXPECT_EQ(a.place(1, 30).offset, 0u);
  EXPECT_EQ(a.place(2, 29).offset, 63u);
}

TEST(Tlsf, SizesAreCountedInTheAlignment) {
  Allocator a("tlsf", kUnlimited, 4096, 4096);
  for (int i = 0; i < 4; ++i) a.place(i, 31 * 4096);
  a.release(0);
  a.release(2);
  // In units of 4096 these are exact classes: a hole of 31 serves 31.
  EXPECT_EQ(a.place(4, 31 * 4096 - 1).offset, 2u * 31 * 4096);
  EXPECT_EQ(a.place(5, 31 * 4096).offset, 0u);
}

TEST(Tlsf, FingerprintKnowsTheOrderOfHoles) {
  Allocator a("tlsf"), b("tlsf");
  for (Allocator* x : {&a, &b}) {
    for (int i = 0; i < 4; ++i) x->place(i, 1000);
  }
  a.release(0), a.release(2);
  b.release(2), b.release(0);
  EXPECT_NE((*a).fingerprint(), (*b).fingerprint());
  EXPECT_NE(a.place(5, 900).offset, b.place(5, 900).offset);
}

TEST(Tlsf, TheLargestSizesHaveClassesToo) {
  Allocator a("tlsf", std::size_t{1} << 54);
  const std::size_t large = (std::size_t{1} << 53) - 1;
  a.place(0, large);
  a.place(1, 1);
  a.release(0);
  EXPECT_EQ((*a).largest_hole(), large);
  EXPECT_EQ(a.place(2, std::size_t{1} << 52).offset, 0u);
  EXPECT_THROW(a.place(3, std::size_t{1} << 60), OutOfMemory);
}

TEST(Buddy, BlocksArePowersOfTwoAtTheirOwnMultiples) {
  Allocator a("buddy");
  EXPECT_EQ(a.place(0, 1), (Placement{0, 512}));
  EXPECT_EQ(a.place(1, 1025), (Placement{2048, 2048}));
  EXPECT_EQ(a.place(2, 1000), (Placement{1024, 1024}));
  EXPECT_EQ(a.place(3, 512), (Placement{512, 512}));
  EXPECT_EQ(a.footprint(), 4096u);
  EXPECT_EQ(a.place(4, 513), (Placement{4096, 1024}));
}

TEST(Buddy, MergesWithItsBuddyAlone) {
  Allocator a("buddy");
  for (int i = 0; i < 4; ++i) a.place(i, 512);
  a.release(1);
  a.release(2);
  EXPECT_EQ((*a).largest_hole(), 512u) << "neighbours, but no buddies";
  EXPECT_EQ(a.place(4, 1024).offset, 2048u);
  a.release(0);
  EXPECT_EQ((*a).largest_hole(), 1024u);
  EXPECT_EQ(a.place(5, 1024).offset, 0u);
}

TEST(Buddy, TheSmallestSufficientBlockThenTheLowest) {
  Allocator a("buddy");
  a.place(0, 4096);
  a.place(1, 512);  // leaves 512 at 4608, 1024 at 5120, 2048 at 6144
  a.release(0);
  EXPECT_EQ(a.place(2, 600).offset, 5120u);
  EXPECT_EQ(a.place(3, 600).offset, 6144u);
}

TEST(Bfc, AChunkIsSplitWhereHalfOfItOrEnoughIsLeft) {
  Allocator a("bfc");
  a.dig({5120});
  EXPECT_EQ(a.place(0, 2816).granted, 5120u) << "2304 left of 5120";
  a.release(0);
  EXPECT_EQ(a.place(1, 2560).granted, 2560u);
  Allocator b("bfc");
  b.dig({300 * kMiB});
  EXPECT_EQ(b.place(0, 173 * kMiB).granted, 300 * kMiB) << "127 MiB are not enough";
  b.release(0);
  EXPECT_EQ(b.place(1, 172 * kMiB).granted, 172 * kMiB);
  EXPECT_EQ(b.place(2, 1).granted, 256u);
}

TEST(BfcTwoEnded, WhatPersistsIsApartFromWhatDoesNot) {
  Allocator a("bfc-two-ended");
  const std::size_t low = a.place(0, 1000, Category::parameter).offset;
  const std::size_t high = a.place(1, 1000, Category::activation).offset;
  EXPECT_EQ(a.place(2, 1000, Category::optimizer_state).offset, low + 1024);
  EXPECT_EQ(a.place(3, 1000, Category::workspace).offset, high + 1024);
  EXPECT_EQ(a.place(4, 1000, Category::model_state).offset, low + 2048);
  EXPECT_EQ(a.place(5, 1000, Category::library).offset, low + 3072);
  EXPECT_EQ(a.footprint(), 6 * 1024u);
  a.release(0);
  EXPECT_EQ(a.place(6, 1000, Category::stash).offset, high + 2048) << "not into the low hole";
}

TEST(BfcTwoEnded, TheOtherEndHelpsOutWhenTheGapIsUsedUp) {
  Allocator a("bfc-two-ended", 4096);
  const std::size_t low = a.place(0, 1024, Category::parameter).offset;
  a.place(1, 1024, Category::parameter);
  a.place(2, 2048);
  a.release(0);
  EXPECT_EQ(a.place(3, 1000).offset, low);
  EXPECT_THROW(a.place(4, 1), OutOfMemory);
}

TEST(Stitch, PagesThatAreNoNeighboursBecomeOneBuffer) {
  Allocator a("stitch", 16 * kMiB);
  for (int i = 0; i < 8; ++i) a.place(i, 2 * kMiB);
  for (const int i : {1, 3, 6}) a.release(i);
  const Placement placement = a.place(8, 5 * kMiB);
  EXPECT_EQ(placement.granted, 6 * kMiB);
  const std::vector<Driver::Piece> pieces = {
      {2 * kMiB, 2 * kMiB}, {6 * kMiB, 2 * kMiB}, {12 * kMiB, 2 * kMiB}};
  EXPECT_EQ(a.driver().memory_behind(placement.offset, placement.granted), pieces);
  EXPECT_EQ(a.footprint(), 16 * kMiB);
  EXPECT_EQ(a.driver().reserved(), 16 * kMiB) << "mapping takes no memory";
  EXPECT_THROW(a.place(9, 2 * kMiB), OutOfMemory);
}

// So that what the contract checks in real memory is stitched memory too.
TEST(Stitch, TheTraceOfPagesIsStitched) {
  for (const testing::Trace& trace : testing::adversarial_traces()) {
    if (trace.name != "pages") continue;
    SimulatedDriver driver(kUnlimited, 2 * kMiB);
    int mapped = 0;
    driver.on_call([&](DriverCall call, std::size_t, std::size_t) {
      mapped += call == DriverCall::map ? 1 : 0;
    });
    const auto strategy = find_strategy("stitch").make({driver, trace.alignment, {}});
    for (const testing::Op& op : trace.ops) {
      if (op.allocate) {
        strategy->place(trace.request(op.id));
      } else {
        strategy->release(op.id);
      }
    }
    EXPECT_GE(mapped, 4);
    return;
  }
  FAIL() << "there is no such trace";
}

TEST(Stitch, AStitchedRangeIsUsedAgainWithoutTheDriver) {
  Allocator a("stitch");
  for (int i = 0; i < 6; ++i) a.place(i, 2 * kMiB);
  for (const int i : {0, 2, 4}) a.release(i);
  const Placement first = a.place(7, 6 * kMiB);
  a.release(7);
  const std::size_t calls = a.driver().calls();
  EXPECT_EQ(a.place(8, 6 * kMiB), first);
  EXPECT_EQ(a.driver().calls(), calls);
  a.release(8);
  EXPECT_EQ(a.place(9, 2 * kMiB).offset, 0u) << "a single page needs no stitching";
  EXPECT_NE(a.place(10, 6 * kMiB).offset, first.offset) << "one of its pages is in use";
}

TEST(Stitch, NewPagesMakeUpForWhatIsMissing) {
  Allocator a("stitch");
  for (int i = 0; i < 3; ++i) a.place(i, 2 * kMiB);
  a.release(1);
  a.place(3, 6 * kMiB);
  EXPECT_EQ(a.footprint(), 10 * kMiB) << "one free page and two new ones";
}

TEST(Stitch, SmallBuffersShareAPage) {
  Allocator a("stitch");
  EXPECT_EQ(a.place(0, 1), (Placement{0, 512}));
  EXPECT_EQ(a.place(1, kMiB), (Placement{512, kMiB}));
  EXPECT_EQ(a.place(2, kMiB).offset, 2 * kMiB) << "512 bytes too few are left";
  EXPECT_EQ(a.place(3, kMiB + 1).granted, 2 * kMiB) << "too large to share";
  a.release(0);
  EXPECT_EQ((*a).largest_hole(), kMiB);
  a.release(1);
  EXPECT_EQ((*a).largest_hole(), 2 * kMiB) << "a page of its own again";
  EXPECT_EQ(a.place(4, 2 * kMiB).offset, 0u);
}

/// Maps as often as it is told.
class MappingDriver final : public Driver {
 public:
  explicit MappingDriver(int maps) : Driver(kUnlimited, 2 * kMiB), left_(maps) {}
  std::byte* base() const override { return nullptr; }
  int mapped = 0;

 private:
  void do_reserve(std::size_t, std::size_t) override {}
  void do_release(std::size_t, std::size_t) override {}
  bool do_commit(std::size_t, std::size_t) override { return true; }
  void do_decommit(std::size_t, std::size_t) override {}
  bool do_map(std::size_t, std::size_t, std::size_t) override {
    mapped += left_ > 0 ? 1 : 0;
    return left_-- > 0;
  }
  void do_unmap(std::size_t, std::size_t) override { --mapped; }

  int left_;
};

TEST(Stitch, ARangeIsMappedAsAWholeOrNotAtAll) {
  for (int maps = 0; maps < 3; ++maps) {
    MappingDriver driver(maps);
    const auto strategy = find_strategy("stitch").make({driver, 512, {}});
    const auto place = [&](int id, std::size_t bytes) {
      return strategy->place({id_of(id), bytes, 512, Category::activation});
    };
    for (int i = 0; i < 6; ++i) place(i, 2 * kMiB);
    for (const int i : {0, 2, 4}) strategy->release(id_of(i));
    const auto fingerprint = strategy->fingerprint();
    try {
      place(6, 6 * kMiB);
      FAIL() << "with " << maps << " maps";
    } catch (const OutOfMemory& error) {
      EXPECT_LE(error.needed, error.capacity) << "it was the system";
    }
    EXPECT_EQ(driver.mapped, 0);
    EXPECT_EQ(strategy->fingerprint(), fingerprint);
    EXPECT_EQ(place(7, 2 * kMiB).offset, 0u) << "the pages are free as before";
  }
}

// Ranges not in use give up their addresses, the oldest first, before these are many times the
// memory.
TEST(Stitch, IdleRangesDoNotPileUp) {
  Allocator a("stitch", 64 * kMiB);
  for (int i = 0; i < 32; ++i) a.place(i, 2 * kMiB);
  for (int round = 0; round < 3000; ++round) {
    // Three pages of 32, another three each time.
    const int x = round % 8, y = 9 + round / 8 % 10, z = 20 + round / 80 % 11;
    for (const int i : {x, y, z}) a.release(i);
    const Placement placement = a.place(100, 6 * kMiB);
    EXPECT_LT(placement.offset, (64 + 5 * 64) * kMiB);
    a.release(100);
    for (const int i : {x, y, z}) a.place(i, 2 * kMiB);
  }
}

}  // namespace
}  // namespace arenagrad
