// Holes found by exact fit rules: the smallest sufficient one, or the lowest.
#pragma once

#include "allocator/block_chain.h"
#include "allocator/hole_tree.h"
#include "allocator/strategy.h"

namespace arenagrad {

/// A rule for GrowingHeap: sizes are rounded to the alignment, and what is left of a hole stays
/// one.
template <Fit kFit>
class FitRule {
 public:
  explicit FitRule(const StrategyContext&) {}

  static std::size_t unit(std::size_t alignment) { return alignment; }
  static bool splits(std::size_t, std::size_t) { return true; }
  void insert(const Hole& hole) { holes_.insert(hole); }
  void erase(const Hole& hole) { holes_.erase(hole); }
  std::uint32_t find(std::size_t bytes) const {
    const Hole* hole = holes_.find(bytes);
    return hole != nullptr ? hole->block : kNoBlock;
  }
  std::size_t largest() const { return holes_.largest(); }
  std::uint64_t order() const { return 0; }

 private:
  HoleTree<kFit> holes_;
};

}  // namespace arenagrad
