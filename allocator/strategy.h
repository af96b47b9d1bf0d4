// Online allocation: sizes in, offsets out, one request at a time.
//
// A strategy is a pure function of the calls made so far and the driver's capacity: no clocks, no
// randomness, no addresses. Dry runs equal real runs because of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/driver.h"
#include "allocator/error.h"
#include "allocator/offline.h"
#include "allocator/request.h"

namespace arenagrad {

/// Why a strategy found no place.
struct Refusal {
  Request request;
  std::size_t granted;       // what the request would have taken after rounding
  Usage usage;               // at the moment of refusal
  std::size_t largest_hole;  // free below the footprint, in one piece
  std::size_t needed;        // the footprint that would have served it, or a whole plan's height;
                             // where it is within the capacity, the system refused
  std::size_t capacity;
  // Filled in by the arena:
  CategoryBytes live{};                     // requested bytes by category
  std::vector<BufferId> live_buffers = {};  // what they are
};

/// The strategy found no place. The arena adds what was live; the executor adds names. The message
/// is one line that holds all of the figures.
class OutOfMemory : public Error, public Refusal {
 public:
  explicit OutOfMemory(const Refusal& refusal);
};

/// The driver is the strategy's alone and frees all memory in its own destructor; a strategy gives
/// nothing back in its own.
class AllocationStrategy {
 public:
  virtual ~AllocationStrategy() = default;

  /// Requests are of one byte or more, and their alignment divides the strategy's. Throws
  /// OutOfMemory, after which the state is as before the call, save that the driver may have given
  /// memory, or, for an adaptive strategy, got back what was free.
  virtual Placement place(const Request& request) = 0;
  virtual void release(BufferId id) = 0;

  virtual Usage usage() const = 0;  // O(1): read after every event
  virtual std::size_t largest_hole() const = 0;

  /// Equal fingerprints promise equal answers to equal calls from here on, so that a dry run may
  /// skip rounds that cannot differ. A strategy without a cheap one returns nullopt.
  virtual std::optional<std::uint64_t> fingerprint() const { return std::nullopt; }
};

/// What a strategy is made from. `lifetimes` are the whole run's, for offline planners; online
/// strategies must not look at them.
struct StrategyContext {
  Driver& driver;
  std::size_t alignment;
  std::span<const Lifetime> lifetimes;
};

struct StrategyInfo {
  std::string_view name;
  std::string_view summary;  // one line, for --help and listings
  bool offline;              // needs all lifetimes before the first request
  std::unique_ptr<AllocationStrategy> (*make)(const StrategyContext&);
  // False: the capacity changes no placement, so that a run's footprint is the smallest capacity in
  // which it fits. True: memory is taken in segments, pages or at two ends and given back when the
  // capacity is reached; the smallest capacity is found by trying.
  bool adaptive = false;
  bool reuses = true;     // memory that was freed
  bool searches = false;  // offline: takes its time to plan, more so with many buffers
  // Nobody but the device's own pool knows where buffers lie: offsets and usage stand for the
  // requests alone, over a driver of such a pool, whose granule is 1 byte.
  bool opaque = false;
};

/// Every strategy that says where buffers lie, in the order listings show them. Adding one: its
/// file, and in strategies.cc its maker's name and one line of the table.
std::span<const StrategyInfo> strategies();
/// Those that don't: they can be run with, not planned with or compared.
std::span<const StrategyInfo> opaque_strategies();

/// Of either kind, by name; a planner's bare name ("greedy-size" for "plan:greedy-size") is
/// accepted. Throws Error that lists the names and the nearest one.
const StrategyInfo& find_strategy(std::string_view name);
/// The same among those that say where buffers lie; another is refused as opaque.
const StrategyInfo& find_placing_strategy(std::string_view name);

}  // namespace arenagrad
