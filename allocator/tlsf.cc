// Two-level segregated fit: classes of sizes, a power of two cut into 32 each, a list of holes in
// each and a bit for each list that isn't empty. Placing and releasing take constant time.
//
// A request is served from the first class in which every hole is large enough, so that a hole that
// fits may be passed over when it is less than 1/32 larger. The newest hole of a class comes first:
// places depend on the order of what went before, not on what is live alone. The nodes are here and
// not in the heap, which may be on a device. Sizes are multiples of the alignment and are counted
// in it.
#include <array>
#include <bit>

#include "allocator/growing_heap.h"

namespace arenagrad {
namespace {

class TlsfRule {
 public:
  explicit TlsfRule(const StrategyContext& context) : shift_(std::countr_zero(context.alignment)) {
    heads_.fill(kNoBlock);
  }

  static std::size_t unit(std::size_t alignment) { return alignment; }
  static bool splits(std::size_t, std::size_t) { return true; }

  void insert(const Hole& hole) {
    if (hole.block >= nodes_.size()) nodes_.resize(hole.block + 1);
    const unsigned list = class_of(hole.bytes >> shift_);
    const std::uint32_t second = heads_[list];
    nodes_[hole.block] = {hole.offset, hole.bytes, kNoBlock, second};
    if (second != kNoBlock) nodes_[second].prev = hole.block;
    heads_[list] = hole.block;
    lists_[list / kLists] |= 1u << list % kLists;
    levels_ |= std::uint64_t{1} << list / kLists;
  }

  void erase(const Hole& hole) {
    const Node& node = nodes_[hole.block];
    if (node.next != kNoBlock) nodes_[node.next].prev = node.prev;
    if (node.prev != kNoBlock) {
      nodes_[node.prev].next = node.next;
      return;
    }
    const unsigned list = class_of(hole.bytes >> shift_);
    heads_[list] = node.next;
    if (node.next != kNoBlock) return;
    lists_[list / kLists] &= ~(1u << list % kLists);
    if (lists_[list / kLists] == 0) levels_ &= ~(std::uint64_t{1} << list / kLists);
  }

  std::uint32_t find(std::size_t bytes) const {
    std::size_t size = bytes >> shift_;
    if (size >= kLists) size += (std::size_t{1} << (std::bit_width(size) - 1 - kBits)) - 1;
    const unsigned list = class_of(size);
    unsigned level = list / kLists;
    std::uint32_t lists = lists_[level] & (~0u << list % kLists);
    if (lists == 0) {
      const std::uint64_t higher = levels_ & (~std::uint64_t{1} << level);
      if (higher == 0) return kNoBlock;
      level = static_cast<unsigned>(std::countr_zero(higher));
      lists = lists_[level];
    }
    return heads_[level * kLists + static_cast<unsigned>(std::countr_zero(lists))];
  }

  /// Takes the time of the highest class's list.
  std::size_t largest() const {
    if (levels_ == 0) return 0;
    const auto level = static_cast<unsigned>(std::bit_width(levels_)) - 1;
    const auto list = static_cast<unsigned>(std::bit_width(lists_[level])) - 1;
    std::size_t largest = 0;
    for (auto i = heads_[level * kLists + list]; i != kNoBlock; i = nodes_[i].next) {
      largest = std::max(largest, nodes_[i].bytes);
    }
    return largest;
  }

  /// Takes the time of all holes.
  std::uint64_t order() const {
    std::uint64_t hash = 0;
    for (const std::uint32_t head : heads_) {
      for (auto i = head; i != kNoBlock; i = nodes_[i].next) {
        hash = LiveTable::mix(hash, nodes_[i].offset);
      }
    }
    return hash;
  }

 private:
  static constexpr unsigned kBits = 5;
  static constexpr unsigned kLists = 1u << kBits;      // in one level
  static constexpr unsigned kLevels = 64 - kBits + 1;  // level 0: sizes below 32, one each

  struct Node {
    std::size_t offset, bytes;
    std::uint32_t prev, next;  // in the list of its class
  };

  static unsigned class_of(std::size_t size) {
    if (size < kLists) return static_cast<unsigned>(size);
    const auto top = static_cast<unsigned>(std::bit_width(size)) - 1;
    const auto second = static_cast<unsigned>(size >> (top - kBits)) - kLists;
    return (top - kBits + 1) * kLists + second;
  }

  int shift_;
  std::uint64_t levels_ = 0;                    // a bit for each level that has holes
  std::array<std::uint32_t, kLevels> lists_{};  // a bit for each list of the level that has any
  std::array<std::uint32_t, kLevels * kLists> heads_;
  std::vector<Node> nodes_;  // by block
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_tlsf(const StrategyContext& context) {
  return std::make_unique<HeapStrategy<TlsfRule>>(context);
}

}  // namespace arenagrad
