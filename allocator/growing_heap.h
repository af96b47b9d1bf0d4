// One heap that grows at its end, whose free blocks merge with their neighbours. Which hole serves
// a request, how sizes are rounded and when a hole is split is a rule's business.
//
// Below the tail, blocks and holes tile the range. The tail is the last free block: it begins where
// the last block ends and has no end, so it is the one that grows.
//
// A Rule has
//   std::size_t unit(alignment)     what sizes are rounded up to, a multiple of the alignment
//   bool splits(hole, granted)      whether a larger hole is cut, or handed out whole
//   insert(Hole), erase(Hole)       a hole appears, disappears
//   std::uint32_t find(bytes)       the block of the hole to use, kNoBlock when none fits
//   std::size_t largest()           bytes of the largest hole
//   std::uint64_t order()           a hash of what `find` knows beyond the set of holes
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "allocator/block_chain.h"
#include "allocator/growing_range.h"
#include "allocator/hole_tree.h"
#include "allocator/live_table.h"
#include "allocator/strategy.h"

namespace arenagrad {

template <class Rule>
class GrowingHeap {
 public:
  GrowingHeap(const StrategyContext& context, std::size_t addresses)
      : rule_(context), range_(context.driver, addresses) {}

  /// Makes sure of memory behind the first `bytes`, without using it yet. False when the heap may
  /// not grow so far; nothing has changed then.
  [[nodiscard]] bool provide(std::size_t bytes) { return range_.grow_to(bytes); }

  /// A block for `bytes`, a multiple of the rule's unit; kNoBlock when the heap would have to grow
  /// and may not.
  std::uint32_t take(std::size_t bytes) {
    const std::uint32_t hole = rule_.find(bytes);
    if (hole != kNoBlock) return cut(hole, bytes);
    return range_.grow_to(tail_ + bytes) ? append(bytes) : kNoBlock;
  }

  void give_back(std::uint32_t block) {
    if (const std::uint32_t next = chain_[block].next; chain_.is(next, BlockState::free)) {
      remove_hole(next);
      chain_.swallow_next(block);
    }
    if (const std::uint32_t prev = chain_[block].prev; chain_.is(prev, BlockState::free)) {
      remove_hole(prev);
      chain_.swallow_next(prev);
      block = prev;
    }
    if (chain_[block].next == kNoBlock) {
      tail_ = chain_[block].offset;
      last_ = chain_[block].prev;
      chain_.drop(block);
    } else {
      add_hole(block);
    }
  }

  Placement placement(std::uint32_t block) const {
    return {range_.base() + chain_[block].offset, chain_[block].bytes};
  }

  std::size_t base() const { return range_.base(); }
  std::size_t tail() const { return tail_; }
  std::size_t committed() const { return range_.committed(); }
  std::size_t footprint() const { return footprint_; }
  std::size_t free() const { return hole_bytes_ + (footprint_ - tail_); }
  std::size_t largest_hole() const { return std::max(rule_.largest(), footprint_ - tail_); }

  // Holes are what live blocks leave open, and committed memory follows from the footprint.
  std::uint64_t hash() const { return LiveTable::mix(rule_.order(), footprint_); }

 private:
  Hole hole(std::uint32_t block) const {
    return {chain_[block].offset, chain_[block].bytes, block};
  }

  void add_hole(std::uint32_t block) {
    chain_[block].state = BlockState::free;
    hole_bytes_ += chain_[block].bytes;
    rule_.insert(hole(block));
  }

  void remove_hole(std::uint32_t block) {
    chain_[block].state = BlockState::used;
    hole_bytes_ -= chain_[block].bytes;
    rule_.erase(hole(block));
  }

  /// The first `bytes` of a hole; what the rule splits off stays a hole.
  std::uint32_t cut(std::uint32_t block, std::size_t bytes) {
    remove_hole(block);
    const std::size_t whole = chain_[block].bytes;
    if (whole > bytes && rule_.splits(whole, bytes)) add_hole(chain_.split(block, bytes));
    return block;
  }

  std::uint32_t append(std::size_t bytes) {
    const std::uint32_t block = chain_.add({tail_, bytes, last_});
    if (last_ != kNoBlock) chain_[last_].next = block;
    last_ = block;
    tail_ += bytes;
    footprint_ = std::max(footprint_, tail_);
    return block;
  }

  Rule rule_;
  GrowingRange range_;
  BlockChain chain_;
  std::uint32_t last_ = kNoBlock;  // the block with the highest address
  std::size_t tail_ = 0;           // where it ends
  std::size_t footprint_ = 0;      // the highest tail so far
  std::size_t hole_bytes_ = 0;
};

/// The strategy that is such a heap and nothing more.
template <class Rule>
class HeapStrategy final : public AllocationStrategy {
 public:
  explicit HeapStrategy(const StrategyContext& context)
      : driver_(context.driver),
        alignment_(context.alignment),
        unit_(Rule::unit(context.alignment)),
        heap_(context, context.driver.capacity()) {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t granted = round_up(request.bytes, unit_);
    const std::uint32_t block = heap_.take(granted);
    if (block == kNoBlock) {
      throw OutOfMemory(
          {request, granted, usage(), largest_hole(), heap_.tail() + granted, driver_.capacity()});
    }
    if (index(request.id) >= block_of_.size()) block_of_.resize(index(request.id) + 1);
    block_of_[index(request.id)] = block;
    const Placement placement = heap_.placement(block);
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    heap_.give_back(block_of_[index(id)]);
  }

  Usage usage() const override { return {heap_.footprint(), driver_.reserved(), heap_.free()}; }
  std::size_t largest_hole() const override { return heap_.largest_hole(); }

  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), heap_.hash());
  }

 private:
  const Driver& driver_;
  std::size_t alignment_;
  std::size_t unit_;
  GrowingHeap<Rule> heap_;
  LiveTable live_;
  std::vector<std::uint32_t> block_of_;  // by buffer id
};

}  // namespace arenagrad
