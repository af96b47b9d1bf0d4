// Which bytes are taken when: what a planner asks while it places one buffer after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/offline.h"

namespace arenagrad {

/// Bytes [begin, end).
struct Extent {
  std::size_t begin, end;
};

/// Extents apart from one another, neighbours joined, in ascending order.
using Extents = std::vector<Extent>;

/// Rectangles of time and bytes in a segment tree over time. Each node keeps the union of what
/// covers all of its time and the union of what touches any of it; a packing is dense, so these
/// unions are short however many buffers went into them.
class Occupancy {
 public:
  /// For buffers among `lifetimes`, of which the times are taken.
  explicit Occupancy(std::span<const Lifetime> lifetimes);

  /// A lifetime of no time takes nothing.
  void insert(const Lifetime& lifetime, Extent extent);

  /// What is taken at any time of `lifetime`, ascending by begin; extents may overlap. Valid until
  /// the next call.
  std::span<const Extent> taken(const Lifetime& lifetime);

 private:
  // Two half-open intervals meet exactly if one begins inside the other: the distinct begins are
  // time enough.
  struct Steps {
    std::size_t begin, end;
  };
  Steps steps(const Lifetime& lifetime) const;
  void insert(std::size_t node, Steps range, Steps steps, Extent extent);
  void gather(std::size_t node, Steps range, Steps steps);

  std::vector<std::uint32_t> begins_;  // distinct, ascending
  std::size_t leaves_ = 1;             // a power of two
  std::vector<Extents> covering_, touching_;
  std::vector<Extent> gathered_;
};

}  // namespace arenagrad
