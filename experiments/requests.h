// A sequence of allocations and frees without a program behind it: what the allocator lab runs
// every strategy on. From a planned experiment, or from a trace file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/offline.h"
#include "allocator/traces/trace.h"
#include "experiments/experiment.h"

namespace arenagrad {

struct RequestEvent {
  bool allocates;
  std::uint32_t buffer;  // index into `buffers`
};

struct RequestBuffer {
  std::size_t bytes;
  std::size_t alignment;
  Category category;
};

struct RequestTrace {
  std::string name;
  std::size_t alignment = 1;                   // the largest of any buffer
  std::size_t granule = std::size_t{2} << 20;  // of the device's memory, bytes
  std::vector<RequestBuffer> buffers;
  std::vector<RequestEvent> events;
  std::vector<Lifetime> lifetimes;  // one per buffer, by BufferId
  /// Events up to here are set-up and the first step; after it comes the steady state. 0: unknown.
  std::size_t first_step_end = 0;

  std::size_t lower_bound() const { return arenagrad::lower_bound(lifetimes, false); }
  std::size_t aligned_bound() const { return arenagrad::lower_bound(lifetimes, true); }
};

/// All requests of the experiment's steps. A buffer inside a repeated micro-step is allocated once
/// a round and keeps its one lifetime.
RequestTrace requests_of(const Experiment& experiment);

/// The allocations and frees of a trace; what it never frees is freed at its end. Buffers of no
/// category count as activations. Throws TraceError for more than 2^32 - 2 allocations.
RequestTrace requests_of(const TraceLog& trace, std::size_t granule);

}  // namespace arenagrad
