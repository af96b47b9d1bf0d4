// The best plan so far of a problem and of each of its parts, as searches improve them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "allocator/packing.h"
#include "allocator/planner.h"

namespace arenagrad {

class Incumbent {
 public:
  /// Starts from the portfolio. The lifetimes outlive this.
  explicit Incumbent(std::span<const Lifetime> lifetimes);

  const Packing& packing() const { return packing_; }

  // All in units of the packing.
  std::size_t height() const;
  std::size_t bound() const { return packing_.bound(); }
  /// The lowest height that a search has any use for.
  std::size_t target(const Budget& budget) const {
    return std::max(bound(), budget.enough / packing_.unit);
  }
  const std::vector<std::size_t>& offsets(std::size_t part) const { return offsets_[part]; }
  std::size_t part_height(std::size_t part) const { return heights_[part]; }

  std::size_t bytes() const { return height() * packing_.unit; }

  /// The part that decides the height, nullopt when no search can lower it: the height is the
  /// bound.
  std::optional<std::size_t> critical() const;

  /// A lower plan of a part.
  void improve(std::size_t part, std::vector<std::size_t> offsets);
  /// Proven: no plan of that part is lower.
  void raise_bound(std::size_t part, std::size_t bound);

  /// What is known now.
  Solution solution() const;

 private:
  std::span<const Lifetime> lifetimes_;
  Packing packing_;
  std::vector<std::vector<std::size_t>> offsets_;
  std::vector<std::size_t> heights_;
};

}  // namespace arenagrad
