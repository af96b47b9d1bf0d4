// One growing heap whose free blocks merge with their neighbours: best-fit and first-fit.
//
// Below the tail, blocks and holes tile the range. The tail is the last free block: it begins where
// the last block ends and has no end, so it is the one that grows.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "allocator/growing_range.h"
#include "allocator/hole_tree.h"
#include "allocator/live_table.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

template <Fit kFit>
class Heap final : public AllocationStrategy {
 public:
  explicit Heap(const StrategyContext& context)
      : alignment_(context.alignment), range_(context.driver, context.driver.capacity()) {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t granted = round_up(request.bytes, alignment_);
    const Hole* hole = holes_.find(granted);
    if (hole == nullptr && !range_.grow_to(tail_ + granted)) {
      throw OutOfMemory(
          {request, granted, usage(), largest_hole(), tail_ + granted, range_.driver().capacity()});
    }
    const std::uint32_t block = hole != nullptr ? cut(*hole, granted) : append(granted);
    if (index(request.id) >= block_of_.size()) block_of_.resize(index(request.id) + 1);
    block_of_[index(request.id)] = block;
    const Placement placement{range_.base() + blocks_[block].offset, granted};
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    std::uint32_t block = block_of_[index(id)];
    if (const std::uint32_t next = blocks_[block].next; next != kNone && blocks_[next].free) {
      remove_hole(next);
      join(block, next);
    }
    if (const std::uint32_t prev = blocks_[block].prev; prev != kNone && blocks_[prev].free) {
      remove_hole(prev);
      join(prev, block);
      block = prev;
    }
    if (block == last_) {
      tail_ = blocks_[block].offset;
      last_ = blocks_[block].prev;
      if (last_ != kNone) blocks_[last_].next = kNone;
      spare_.push_back(block);
    } else {
      add_hole(block);
    }
  }

  Usage usage() const override {
    return {footprint_, range_.driver().reserved(), hole_bytes_ + (footprint_ - tail_)};
  }

  std::size_t largest_hole() const override {
    return std::max(holes_.largest(), footprint_ - tail_);
  }

  // Holes are what live blocks leave open, and committed memory follows from the footprint.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), footprint_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Block {
    std::size_t offset, bytes;  // offset within the range
    std::uint32_t prev, next;   // neighbours by address
    bool free;
  };

  std::uint32_t new_block(const Block& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t i = spare_.back();
    spare_.pop_back();
    blocks_[i] = block;
    return i;
  }

  Hole hole(std::uint32_t block) const {
    return {blocks_[block].offset, blocks_[block].bytes, block};
  }

  void add_hole(std::uint32_t block) {
    blocks_[block].free = true;
    hole_bytes_ += blocks_[block].bytes;
    holes_.insert(hole(block));
  }

  void remove_hole(std::uint32_t block) {
    blocks_[block].free = false;
    hole_bytes_ -= blocks_[block].bytes;
    holes_.erase(hole(block));
  }

  /// The first `granted` bytes of a hole; what remains stays a hole.
  std::uint32_t cut(const Hole& hole, std::size_t granted) {
    const std::uint32_t block = hole.block;
    remove_hole(block);
    if (const std::size_t rest = blocks_[block].bytes - granted; rest > 0) {
      const std::uint32_t next = blocks_[block].next;  // a hole is never last
      const std::uint32_t remainder =
          new_block({blocks_[block].offset + granted, rest, block, next, true});
      blocks_[next].prev = remainder;
      blocks_[block].next = remainder;
      blocks_[block].bytes = granted;
      add_hole(remainder);
    }
    return block;
  }

  std::uint32_t append(std::size_t granted) {
    const std::uint32_t block = new_block({tail_, granted, last_, kNone, false});
    if (last_ != kNone) blocks_[last_].next = block;
    last_ = block;
    tail_ += granted;
    footprint_ = std::max(footprint_, tail_);
    return block;
  }

  /// Lets `block` swallow the one after it.
  void join(std::uint32_t block, std::uint32_t after) {
    blocks_[block].bytes += blocks_[after].bytes;
    const std::uint32_t next = blocks_[after].next;
    blocks_[block].next = next;
    if (next != kNone) blocks_[next].prev = block;
    if (after == last_) last_ = block;
    spare_.push_back(after);
  }

  std::size_t alignment_;
  GrowingRange range_;
  LiveTable live_;
  HoleTree<kFit> holes_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> spare_;     // unused entries of blocks_
  std::vector<std::uint32_t> block_of_;  // by buffer id
  std::uint32_t last_ = kNone;           // the block with the highest address
  std::size_t tail_ = 0;                 // where it ends
  std::size_t footprint_ = 0;            // the highest tail so far
  std::size_t hole_bytes_ = 0;
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_best_fit(const StrategyContext& context) {
  return std::make_unique<Heap<Fit::best>>(context);
}

std::unique_ptr<AllocationStrategy> make_first_fit(const StrategyContext& context) {
  return std::make_unique<Heap<Fit::first>>(context);
}

}  // namespace arenagrad
