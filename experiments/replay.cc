#include "experiments/replay.h"

#include <algorithm>
#include <chrono>

namespace arenagrad {
namespace {

/// The allocation or free number at which granted bytes are first at their highest.
struct Walk {
  const RequestTrace& trace;
  SimulatedDriver driver;
  std::size_t driver_bytes = 0;
  Ledger ledger;
  std::unique_ptr<AllocationStrategy> strategy;

  Walk(const RequestTrace& t, const MakeStrategy& make, std::size_t capacity)
      : trace(t), driver(capacity, t.granule) {
    driver.on_call([this](DriverCall call, std::size_t offset, std::size_t bytes) {
      if (call == DriverCall::commit || call == DriverCall::decommit) driver_bytes += bytes;
      ledger.driver_called(call, offset, bytes);
    });
    strategy = make({driver, trace.alignment, trace.lifetimes});
  }

  Request request(std::uint32_t buffer) const {
    const RequestBuffer& b = trace.buffers[buffer];
    return {BufferId{buffer}, b.bytes, b.alignment, b.category};
  }

  void step(const RequestEvent& event) {
    if (event.allocates) {
      const Request r = request(event.buffer);
      const Placement placement = strategy->place(r);
      ledger.allocated(r, placement, strategy->usage());
    } else {
      strategy->release(BufferId{event.buffer});
      ledger.freed(BufferId{event.buffer}, strategy->usage());
    }
  }
};

using Clock = std::chrono::steady_clock;

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double clock_cost() {
  std::vector<double> costs;
  for (int i = 0; i < 1001; ++i) {
    const auto begin = Clock::now();
    const auto end = Clock::now();
    costs.push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  return quantile(costs, 0.5);
}

CallTimes times(std::vector<double>& calls, double cost) {
  const double p99 = quantile(calls, 0.99), median = quantile(calls, 0.5);
  return {std::max(0.0, median - cost), std::max(0.0, p99 - cost)};
}

}  // namespace

Replay replay(const RequestTrace& trace, const MakeStrategy& make, std::size_t capacity) {
  Replay result;
  std::size_t peak_at = 0, highest = 0;
  {
    Walk walk(trace, make, capacity);
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      walk.step(trace.events[i]);
      if (walk.ledger.totals().granted > highest) {
        highest = walk.ledger.totals().granted;
        peak_at = i;
      }
      if (i + 1 == trace.first_step_end) {
        result.first_step_footprint = walk.ledger.totals().footprint;
      }
    }
    result.totals = walk.ledger.totals();
    result.peak_requested = walk.ledger.peak().requested;
    result.driver_bytes = walk.driver_bytes;
  }
  // The largest hole is costly to ask for: a second walk asks once, at the peak.
  Walk walk(trace, make, capacity);
  for (std::size_t i = 0; i <= peak_at && i < trace.events.size(); ++i) walk.step(trace.events[i]);
  const Usage usage = walk.strategy->usage();
  result.active = walk.ledger.totals().granted;
  result.internal_waste = result.active - walk.ledger.totals().requested;
  result.external_waste = usage.footprint - result.active;
  result.free = usage.free;
  result.largest_hole = walk.strategy->largest_hole();
  return result;
}

bool fits(const RequestTrace& trace, const MakeStrategy& make, std::size_t capacity) {
  try {
    SimulatedDriver driver(capacity, trace.granule);
    const auto strategy = make({driver, trace.alignment, trace.lifetimes});
    for (const RequestEvent& event : trace.events) {
      if (event.allocates) {
        const RequestBuffer& b = trace.buffers[event.buffer];
        strategy->place({BufferId{event.buffer}, b.bytes, b.alignment, b.category});
      } else {
        strategy->release(BufferId{event.buffer});
      }
    }
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

ReplayTimes time_calls(const RequestTrace& trace, const MakeStrategy& make) {
  SimulatedDriver driver(kUnlimited, trace.granule);
  const auto strategy = make({driver, trace.alignment, trace.lifetimes});
  std::vector<double> allocates, frees;
  for (const RequestEvent& event : trace.events) {
    const RequestBuffer& b = trace.buffers[event.buffer];
    const Request request{BufferId{event.buffer}, b.bytes, b.alignment, b.category};
    const auto begin = Clock::now();
    if (event.allocates) {
      strategy->place(request);
    } else {
      strategy->release(request.id);
    }
    const auto end = Clock::now();
    (event.allocates ? allocates : frees)
        .push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  const double cost = clock_cost();
  return {times(allocates, cost), times(frees, cost)};
}

}  // namespace arenagrad
