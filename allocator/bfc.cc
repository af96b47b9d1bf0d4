// TensorFlow's best-fit with coalescing, in one region: chunks of 256 bytes' multiples, the
// smallest that is large enough first (its bins, each in order of size and address, find no other),
// and a chunk is handed out whole where it is less than twice the request and the rest is small.
//
// The two-ended variant has a heap at either end of the region and one central gap between them:
// what lives for the whole run is low, what a step makes and unmakes is high. Each end uses its own
// holes first, then the gap, and the other end's room when the gap is used up. Offsets at the high
// end count from an address range of its own; ends share the capacity, not addresses, so that where
// the region ends need not be known.
#include <numeric>

#include "allocator/address_space.h"
#include "allocator/fit_rule.h"
#include "allocator/growing_heap.h"

namespace arenagrad {
namespace {

constexpr std::size_t kUnit = 256;
constexpr std::size_t kMostLeftOver = std::size_t{128}
                                      << 20;  // bytes handed out beyond the request

class BfcRule : public FitRule<Fit::best> {
 public:
  using FitRule::FitRule;
  static std::size_t unit(std::size_t alignment) { return std::max(kUnit, alignment); }
  static bool splits(std::size_t hole, std::size_t granted) {
    return hole >= 2 * granted || hole - granted >= kMostLeftOver;
  }
};

bool persistent(Category category) {
  return category == Category::parameter || category == Category::model_state ||
         category == Category::optimizer_state || category == Category::library;
}

class TwoEnded final : public AllocationStrategy {
 public:
  explicit TwoEnded(const StrategyContext& context)
      : driver_(context.driver),
        alignment_(context.alignment),
        unit_(BfcRule::unit(context.alignment)),
        ends_{Heap(context, addresses(context)), Heap(context, addresses(context))} {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t granted = round_up(request.bytes, unit_);
    Chunk chunk{persistent(request.category) ? kLow : kHigh, kNoBlock};
    chunk.block = ends_[chunk.end].take(granted);
    if (chunk.block == kNoBlock) {
      chunk.end = other(chunk.end);
      chunk.block = ends_[chunk.end].take(granted);
    }
    if (chunk.block == kNoBlock) {
      const Heap& own = ends_[other(chunk.end)];
      const std::size_t needed = driver_.reserved() - own.committed() + own.tail() + granted;
      throw OutOfMemory({request, granted, usage(), largest_hole(), needed, driver_.capacity()});
    }
    if (index(request.id) >= chunks_.size()) chunks_.resize(index(request.id) + 1);
    chunks_[index(request.id)] = chunk;
    const Placement placement = ends_[chunk.end].placement(chunk.block);
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    const Chunk& chunk = chunks_[index(id)];
    ends_[chunk.end].give_back(chunk.block);
  }

  Usage usage() const override {
    return {ends_[kLow].footprint() + ends_[kHigh].footprint(), driver_.reserved(),
            ends_[kLow].free() + ends_[kHigh].free()};
  }

  std::size_t largest_hole() const override {
    return std::max(ends_[kLow].largest_hole(), ends_[kHigh].largest_hole());
  }

  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), LiveTable::mix(ends_[kLow].hash(), ends_[kHigh].hash()));
  }

 private:
  using Heap = GrowingHeap<BfcRule>;
  enum End : std::uint8_t { kLow, kHigh };

  /// So many that the range after it begins aligned too.
  static std::size_t addresses(const StrategyContext& context) {
    return round_up(std::min(context.driver.capacity(), context.driver.longest_range()),
                    std::lcm(context.driver.granule(), context.alignment));
  }
  static End other(End end) { return end == kLow ? kHigh : kLow; }
  struct Chunk {
    End end;
    std::uint32_t block;
  };

  const Driver& driver_;
  std::size_t alignment_;
  std::size_t unit_;
  Heap ends_[2];
  LiveTable live_;
  std::vector<Chunk> chunks_;  // by buffer id
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_bfc(const StrategyContext& context) {
  return std::make_unique<HeapStrategy<BfcRule>>(context);
}

std::unique_ptr<AllocationStrategy> make_bfc_two_ended(const StrategyContext& context) {
  return std::make_unique<TwoEnded>(context);
}

}  // namespace arenagrad
