// Request sequences for tests of strategies, planners and ledgers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/offline.h"
#include "allocator/request.h"

namespace arenagrad::testing {

struct Op {
  bool allocate;  // else free
  BufferId id;
};

/// Each buffer is allocated once and freed once.
struct Trace {
  std::string name;
  std::size_t alignment;
  std::vector<std::size_t> sizes;  // by buffer
  std::vector<Op> ops;

  Request request(BufferId id) const;
  /// Time is the position of an op.
  std::vector<Lifetime> lifetimes() const;
};

/// Random sizes and lifetimes, `buffers` of them; sizes of a few classes come back often, as in
/// networks, when `classes` is not 0.
Trace random_trace(std::uint32_t seed, std::size_t buffers, std::size_t largest,
                   std::size_t alignment, std::size_t classes);

/// Sequences that are known to hurt one rule or another.
std::vector<Trace> adversarial_traces();

/// The random and the adversarial ones.
std::vector<Trace> all_traces();

/// A problem of tests/data in minimalloc's format: begins and ends are half-open, alignment 1.
std::vector<Lifetime> load_problem(const std::string& path);

/// The same as requests in order of time, frees before allocations.
Trace trace_of(const std::string& name, const std::vector<Lifetime>& lifetimes);

}  // namespace arenagrad::testing
