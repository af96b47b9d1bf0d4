// Offline allocation: all lifetimes known, offsets out. Strip packing with fixed x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/request.h"

namespace arenagrad {

/// One allocation; half-open [begin, end) in any unit of time. Where one ends and another begins at
/// the same time they may share memory.
struct Lifetime {
  BufferId id;
  std::size_t bytes;
  std::size_t alignment;
  std::uint32_t begin;
  std::uint32_t end;
};

/// The largest sum of live bytes over time: no plan can be lower. With `aligned` each size is first
/// rounded to its alignment, the bound that proofs are made against.
std::size_t lower_bound(std::span<const Lifetime> lifetimes, bool aligned);

struct Plan {
  std::vector<std::size_t> offsets;  // by position in the span given to the planner
  std::size_t height = 0;            // max over offset + size rounded to the alignment
};

/// Size descending (ties: earlier begin, then position); each into the smallest gap that fits
/// between already placed, time-overlapping buffers, lowest first among equals, else above them.
Plan plan_greedy_size(std::span<const Lifetime> lifetimes);

/// Checks a plan against its problem without knowing how it was made: one offset each, aligned, no
/// two that overlap in time overlap in space, the height is the top. Empty when valid, else what is
/// wrong with which two.
std::string validate(std::span<const Lifetime> lifetimes, const Plan& plan);

}  // namespace arenagrad
