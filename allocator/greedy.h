// Greedy planners: an order, and a rule that picks the gap for each buffer in turn.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allocator/offline.h"

namespace arenagrad {

enum class GapRule {
  best,   // the smallest gap that fits, the lowest among equals
  first,  // the lowest gap that fits
};

enum class Order {
  size,       // largest first
  lifetime,   // longest lived first
  area,       // bytes times lifetime, largest first
  breadth,    // the times with the most live bytes first, within one the largest first
  start,      // earliest born first
  conflicts,  // most buffers alive at some time of its life first
};

/// Positions in `lifetimes`. Ties: earlier begin, then position.
std::vector<std::size_t> ordered(std::span<const Lifetime> lifetimes, Order order);

/// Places in that order, each into a gap between already placed, time-overlapping buffers, else
/// above them.
Plan place_in_order(std::span<const Lifetime> lifetimes, std::span<const std::size_t> order,
                    GapRule rule);

}  // namespace arenagrad
