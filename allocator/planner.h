// Offline planners: one interface over heuristics that are done at once and searches that run until
// the bound, a budget or the clock stops them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "allocator/offline.h"

namespace arenagrad {

/// A step is an iteration of `search`, a node of `exact`; on a problem of more than 1,024 buffers
/// it counts 1 more for each further 1,024, since it takes that much longer. What a planner returns
/// is a pure function of the lifetimes, `steps` and `enough` as long as `seconds` is empty.
struct Budget {
  std::uint64_t steps;
  std::optional<double> seconds = std::nullopt;  // wall clock, from the call on
  /// Bytes. A search ends with a plan of that height or less, and tries it before all lower ones.
  std::size_t enough = 0;
};

/// What a caller may see of a long search, and how it ends one.
struct Watch {
  /// Called now and then with the steps so far and the lowest height so far.
  std::function<void(std::uint64_t steps, std::size_t height)> progress = nullptr;
  /// The search ends soon after it becomes true, as if the clock had stopped it. Not owned.
  const std::atomic<bool>* interrupt = nullptr;
};

struct Solution {
  Plan plan;               // valid, whatever stopped the planner
  std::size_t bound = 0;   // proven: no plan of these lifetimes, sizes rounded up, is lower
  bool optimal = false;    // plan.height == bound
  bool truncated = false;  // stopped by the clock or an interrupt: another run may differ
  std::uint64_t steps_used = 0;
};

struct PlannerInfo {
  std::string_view name;        // as a strategy: "plan:search"
  std::string_view summary;     // one line
  std::uint64_t default_steps;  // 0: always does the same amount of work
  Solution (*solve)(std::span<const Lifetime>, const Budget&, const Watch&);

  Budget default_budget() const { return {default_steps, std::nullopt}; }
};

/// Every planner, from the quickest to the slowest.
std::span<const PlannerInfo> planners();

/// By name, "plan:" may be left out. Throws Error that lists the names.
const PlannerInfo& find_planner(std::string_view name);

}  // namespace arenagrad
