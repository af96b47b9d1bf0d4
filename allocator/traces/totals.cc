#include "allocator/traces/totals.h"

namespace arenagrad {

using Kind = TraceEvent::Kind;

void TraceTotals::event(const TraceEvent& event) {
  ++events;
  const auto count = [&](const Life& life, bool born) {
    std::size_t& sum =
        life.category ? by_category_[static_cast<std::size_t>(*life.category)] : other_;
    sum = born ? sum + life.bytes : sum - life.bytes;
    live_bytes = born ? live_bytes + life.bytes : live_bytes - life.bytes;
  };
  switch (event.kind) {
    case Kind::allocate: {
      ++allocations;
      const Life life{event.bytes, event.category};
      lives_[event.id] = life;
      count(life, true);
      if (live_bytes > peak_bytes) {
        peak_bytes = live_bytes;
        at_peak = by_category_;
        other_at_peak = other_;
      }
      break;
    }
    case Kind::free: {
      ++frees;
      const auto found = lives_.find(event.id);
      check_contract(found != lives_.end(), "a trace frees what is not live");
      count(found->second, false);
      lives_.erase(found);
      break;
    }
    case Kind::refuse: ++refusals; break;
    case Kind::scope: break;
    default: ++driver_calls; break;
  }
  live = lives_.size();
}

}  // namespace arenagrad
