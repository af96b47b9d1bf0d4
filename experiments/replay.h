// One strategy on one sequence of requests: what it took, and how long its bookkeeping was.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "allocator/ledger.h"
#include "allocator/strategy.h"
#include "experiments/requests.h"

namespace arenagrad {

/// Makes the strategy for a driver; lets the lab replay a plan that it has solved already.
using MakeStrategy = std::function<std::unique_ptr<AllocationStrategy>(const StrategyContext&)>;

struct Replay {
  Totals totals;
  std::size_t peak_requested = 0;
  std::size_t first_step_footprint = 0;  // highest by the end of the first step
  // At the event where granted live bytes were highest:
  std::size_t active = 0;          // granted
  std::size_t internal_waste = 0;  // granted - requested
  std::size_t external_waste = 0;  // footprint - granted
  std::size_t free = 0, largest_hole = 0;
  std::size_t driver_bytes = 0;  // committed and given back, over all calls
};

/// Throws OutOfMemory when the capacity is too small.
Replay replay(const RequestTrace& trace, const MakeStrategy& make, std::size_t capacity);
bool fits(const RequestTrace& trace, const MakeStrategy& make, std::size_t capacity);

/// Nanoseconds of host bookkeeping, the driver's work excluded (a simulated driver only counts);
/// the clock's own cost is taken off.
struct CallTimes {
  double median = 0, p99 = 0;
};
struct ReplayTimes {
  CallTimes allocate, free;
};
ReplayTimes time_calls(const RequestTrace& trace, const MakeStrategy& make);

}  // namespace arenagrad
