// Best-fit and first-fit against their rules, by hand and against a model too simple to be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "allocator/strategy.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

BufferId id_of(int i) { return BufferId{static_cast<std::uint32_t>(i)}; }

/// A heap with alignment 1 over simulated memory.
class Heap {
 public:
  explicit Heap(std::string_view strategy, std::size_t capacity = kUnlimited)
      : driver_(capacity, 1), strategy_(find_strategy(strategy).make({driver_, 1, {}})) {}

  std::size_t place(int id, std::size_t bytes) {
    return strategy_->place({id_of(id), bytes, 1, Category::activation}).offset;
  }
  void release(int id) { strategy_->release(id_of(id)); }
  AllocationStrategy& operator*() { return *strategy_; }

 private:
  SimulatedDriver driver_;
  std::unique_ptr<AllocationStrategy> strategy_;
};

/// Holes of 100, 30 and 60 bytes, in this order of address, between live blocks of 1.
void dig_holes(Heap& heap) {
  int id = 0;
  for (const std::size_t bytes : {100u, 30u, 60u}) {
    heap.place(id++, bytes);
    heap.place(id++, 1);
  }
  for (const int i : {0, 2, 4}) heap.release(i);
}

TEST(BestFit, TakesTheSmallestSufficientHole) {
  Heap heap("best-fit");
  dig_holes(heap);
  EXPECT_EQ(heap.place(10, 31), 132u);  // the 60
  EXPECT_EQ(heap.place(11, 30), 101u);  // the 30, exactly
  EXPECT_EQ(heap.place(12, 29), 163u);  // what is left of the 60, exactly
  EXPECT_EQ(heap.place(13, 29), 0u);
}

TEST(BestFit, TakesTheLowestAmongEquals) {
  Heap heap("best-fit");
  for (int i = 0; i < 7; ++i) heap.place(i, 50);
  for (const int i : {5, 1, 3}) heap.release(i);
  EXPECT_EQ(heap.place(10, 20), 50u);
  EXPECT_EQ(heap.place(11, 50), 150u);
  EXPECT_EQ(heap.place(12, 50), 250u);
}

TEST(FirstFit, TakesTheLowestSufficientHole) {
  Heap heap("first-fit");
  dig_holes(heap);
  EXPECT_EQ(heap.place(10, 31), 0u);
  EXPECT_EQ(heap.place(11, 61), 31u);
  EXPECT_EQ(heap.place(12, 61), 193u);  // nowhere below
  EXPECT_EQ(heap.place(13, 31), 132u);
}

class BothFits : public ::testing::TestWithParam<std::string> {};

TEST_P(BothFits, NeighboursMergeInEveryOrder) {
  std::vector<int> order = {1, 2, 3};
  do {
    Heap heap(GetParam());
    for (int i = 0; i < 5; ++i) heap.place(i, 10);
    for (const int i : order) heap.release(i);
    EXPECT_EQ((*heap).largest_hole(), 30u);
    EXPECT_EQ(heap.place(9, 30), 10u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(BothFits, TheLastFreeBlockGrows) {
  Heap heap(GetParam());
  heap.place(0, 10);
  heap.place(1, 20);
  heap.release(1);
  EXPECT_EQ(heap.place(2, 50), 10u);  // from where 1 was, past the footprint
  EXPECT_EQ((*heap).usage().footprint, 60u);
  EXPECT_EQ((*heap).usage().free, 0u);
}

TEST_P(BothFits, TheLastFreeBlockComesAfterAllHoles) {
  Heap heap(GetParam());
  for (const auto& [id, bytes] : {std::pair{0, 100}, {1, 50}, {2, 100}, {3, 30}}) {
    heap.place(id, static_cast<std::size_t>(bytes));
  }
  heap.release(1);
  heap.release(3);
  EXPECT_EQ(heap.place(4, 20), 100u);  // though 30 at the end would fit tighter
}

TEST_P(BothFits, FootprintIsTheHighestTop) {
  Heap heap(GetParam());
  heap.place(0, 100);
  heap.place(1, 100);
  heap.release(0);
  heap.release(1);
  EXPECT_EQ((*heap).usage().footprint, 200u);
  EXPECT_EQ((*heap).usage().free, 200u);
  EXPECT_EQ((*heap).largest_hole(), 200u);
  heap.place(2, 150);
  EXPECT_EQ((*heap).usage().footprint, 200u);
}

TEST_P(BothFits, RefusalNamesTheLargestHole) {
  Heap heap(GetParam(), 200);
  dig_holes(heap);  // footprint 193
  try {
    heap.place(10, 101);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.largest_hole, 100u);
    EXPECT_EQ(error.usage.free, 190u);
    EXPECT_EQ(error.usage.footprint, 193u);
  }
  EXPECT_EQ(heap.place(11, 100), 0u);
}

TEST_P(BothFits, FingerprintKnowsPlacesAndBuffersButNotHistory) {
  Heap a(GetParam()), b(GetParam()), c(GetParam());
  a.place(0, 10), a.place(1, 20), a.place(2, 30), a.release(1);
  b.place(0, 10), b.place(7, 20), b.place(2, 30), b.release(7);  // got there differently
  c.place(2, 10), c.place(1, 20), c.place(0, 30), c.release(1);  // 0 and 2 have swapped places
  EXPECT_EQ((*a).fingerprint(), (*b).fingerprint());
  EXPECT_NE((*a).fingerprint(), (*c).fingerprint());
  a.place(1, 20);
  EXPECT_NE((*a).fingerprint(), (*b).fingerprint());
}

TEST_P(BothFits, FingerprintKnowsOffsetsAndTheFootprint) {
  Heap a(GetParam()), b(GetParam()), c(GetParam());
  a.place(0, 10), a.place(1, 10);
  b.place(1, 10), b.place(0, 10);  // equal sizes, other offsets
  c.place(0, 10), c.place(1, 10), c.place(2, 10), c.release(2);
  EXPECT_NE((*a).fingerprint(), (*b).fingerprint());
  EXPECT_NE((*a).fingerprint(), (*c).fingerprint());
  a.place(3, 10), a.release(3);
  EXPECT_EQ((*a).fingerprint(), (*c).fingerprint());
}

/// The rule, word for word: all gaps between live blocks, looked at one by one.
class Model {
 public:
  explicit Model(bool best) : best_(best) {}

  std::size_t place(BufferId id, std::size_t bytes) {
    std::size_t top = 0, choice = 0, choice_gap = 0;
    for (const auto& [offset, block] : blocks_) {
      const std::size_t gap = offset - top;
      if (gap >= bytes && (choice_gap == 0 || (best_ && gap < choice_gap))) {
        choice = top;
        choice_gap = gap;
      }
      top = offset + block.second;
    }
    const std::size_t at = choice_gap > 0 ? choice : top;
    blocks_[at] = {id, bytes};
    return at;
  }

  void release(BufferId id) {
    std::erase_if(blocks_, [&](const auto& entry) { return entry.second.first == id; });
  }

 private:
  bool best_;
  std::map<std::size_t, std::pair<BufferId, std::size_t>> blocks_;  // by offset
};

TEST_P(BothFits, AgreesWithTheModel) {
  std::vector<Trace> traces = all_traces();
  for (std::uint32_t seed = 10; seed < 30; ++seed) {
    traces.push_back(random_trace(seed, 300, seed % 2 == 0 ? 30 : 3000, 4, seed % 5));
  }
  for (const Trace& trace : traces) {
    SimulatedDriver driver(kUnlimited, 4096);
    const auto strategy = find_strategy(GetParam()).make({driver, trace.alignment, {}});
    Model model(GetParam() == "best-fit");
    for (const Op& op : trace.ops) {
      if (op.allocate) {
        const Placement placement = strategy->place(trace.request(op.id));
        ASSERT_EQ(placement.granted, round_up(trace.sizes[index(op.id)], trace.alignment));
        ASSERT_EQ(placement.offset, model.place(op.id, placement.granted)) << trace.name;
      } else {
        strategy->release(op.id);
        model.release(op.id);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fits, BothFits, ::testing::Values("best-fit", "first-fit"),
                         [](const auto& info) {
                           return std::string(info.param == "best-fit" ? "best" : "first");
                         });

struct Height {
  const char* problem;
  std::size_t best_fit, first_fit;
};

TEST(Heap, FootprintsOfKnownProblems) {
  const Height heights[] = {{"minimalloc/A.1048576.csv", 1837056, 1608704},
                            {"minimalloc/H.1048576.csv", 1229824, 1299456},
                            {"idealloc/resnet50.csv", 1520092676, 1528512004},
                            {"idealloc/G_1.csv", 3040663228, 3057964734}};
  for (const Height& height : heights) {
    const Trace trace = trace_of(height.problem, load_problem(height.problem));
    for (const std::string name : {"best-fit", "first-fit"}) {
      SimulatedDriver driver(kUnlimited, 1);
      const auto strategy = find_strategy(name).make({driver, 1, {}});
      for (const Op& op : trace.ops) {
        if (op.allocate) {
          strategy->place(trace.request(op.id));
        } else {
          strategy->release(op.id);
        }
      }
      EXPECT_EQ(strategy->usage().footprint,
                name == "best-fit" ? height.best_fit : height.first_fit)
          << name << " on " << height.problem;
    }
  }
}

}  // namespace
}  // namespace arenagrad::testing
