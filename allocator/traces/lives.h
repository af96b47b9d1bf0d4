// Between events and lifetimes: what planners work on, and what MiniMalloc's files hold.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "allocator/offline.h"
#include "allocator/traces/trace.h"

namespace arenagrad {

/// Half-open lives by order of allocation, one for each: the n-th has BufferId n. Times are
/// positions among the allocations and frees; what is never freed lives to the end. The other
/// direction is `replay_lifetimes`.
std::vector<Lifetime> lifetimes(const TraceLog& trace);

/// One row of a file of lifetimes.
struct TraceLife {
  std::uint64_t id = 0;
  std::uint64_t begin = 0, end = 0;  // half-open, begin < end
  std::size_t bytes = 0;
  std::size_t offset = kUnknownOffset;
  std::size_t alignment = 0;
};

/// Lives as events in order of time; at the same time frees come first, and otherwise the order is
/// that of the rows. `row` is the life's position.
void replay_lifetimes(std::span<const TraceLife> lives,
                      const std::function<void(const TraceEvent& event, std::size_t row)>& call);

}  // namespace arenagrad
