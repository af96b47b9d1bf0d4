// Binary buddies: blocks of a power of two, at multiples of their own size; the lowest free block
// of the smallest sufficient size, halved down to the request. A yardstick: up to half of it is
// waste.
//
// The root block is larger than the capacity, so that it does not matter: the capacity stops a
// block from being used, not from being chosen.
#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "allocator/growing_range.h"
#include "allocator/live_table.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

constexpr std::size_t kSmallest = 512;

class Buddy final : public AllocationStrategy {
 public:
  explicit Buddy(const StrategyContext& context)
      : alignment_(context.alignment),
        smallest_(std::bit_ceil(std::max(kSmallest, context.alignment))),
        range_(context.driver, context.driver.capacity()) {
    free_[kRoot].insert(0);
  }

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t granted = std::bit_ceil(std::max(request.bytes, smallest_));
    const auto order = static_cast<unsigned>(std::countr_zero(granted));
    unsigned source = order;
    while (source <= kRoot && free_[source].empty()) ++source;
    const std::size_t offset = source <= kRoot ? *free_[source].begin() : kTooHigh;
    if (!range_.grow_to(offset + granted)) {
      throw OutOfMemory({request, granted, usage(), largest_hole(), offset + granted,
                         range_.driver().capacity()});
    }
    free_[source].erase(free_[source].begin());
    while (source > order) {
      --source;
      free_[source].insert(offset + (std::size_t{1} << source));
    }
    footprint_ = std::max(footprint_, offset + granted);
    const Placement placement{range_.base() + offset, granted};
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    const Placement placement = live_.remove(id);
    std::size_t offset = placement.offset - range_.base();
    auto order = static_cast<unsigned>(std::countr_zero(placement.granted));
    // The root has no buddy.
    for (; order < kRoot; ++order) {
      const std::size_t size = std::size_t{1} << order;
      if (free_[order].erase(offset ^ size) == 0) break;
      offset &= ~size;
    }
    free_[order].insert(offset);
  }

  Usage usage() const override {
    return {footprint_, range_.driver().reserved(), footprint_ - live_.granted()};
  }

  /// Free blocks that touch without being buddies count as two.
  std::size_t largest_hole() const override {
    std::size_t largest = 0;
    for (unsigned order = 0; order <= kRoot; ++order) {
      // Of a block that reaches beyond the footprint, what is below it.
      for (const std::size_t offset : free_[order]) {
        if (offset >= footprint_) break;
        largest = std::max(largest, std::min(std::size_t{1} << order, footprint_ - offset));
      }
    }
    return largest;
  }

  // Free blocks are what live ones leave open.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), footprint_);
  }

 private:
  static constexpr unsigned kRoot = 61;  // holds the largest request and any capacity
  static constexpr std::size_t kTooHigh = std::size_t{1} << 61;  // beyond any capacity

  std::size_t alignment_;
  std::size_t smallest_;
  GrowingRange range_;
  LiveTable live_;
  std::array<std::set<std::size_t>, kRoot + 1> free_;  // by order
  std::size_t footprint_ = 0;
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_buddy(const StrategyContext& context) {
  return std::make_unique<Buddy>(context);
}

}  // namespace arenagrad
