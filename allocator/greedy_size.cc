// Largest first, each into its best gap: simple, fast, and the start of every better planner.
#include <algorithm>
#include <numeric>

#include "allocator/occupancy.h"
#include "allocator/offline.h"
#include "allocator/planned.h"

namespace arenagrad {
namespace {

/// The start of the smallest gap that takes `bytes`, the lowest among equals, else the place above
/// everything.
std::size_t best_gap(std::span<const Extent> taken, std::size_t bytes, std::size_t alignment) {
  std::size_t best = 0;
  std::size_t best_gap = 0;  // 0: none yet
  std::size_t top = 0;
  for (const Extent& extent : taken) {
    if (extent.begin > top) {
      const std::size_t gap = extent.begin - top;
      const std::size_t start = round_up(top, alignment);
      if (start + bytes <= extent.begin && (best_gap == 0 || gap < best_gap)) {
        best = start;
        best_gap = gap;
      }
    }
    top = std::max(top, extent.end);
  }
  return best_gap > 0 ? best : round_up(top, alignment);
}

}  // namespace

Plan plan_greedy_size(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> sizes;
  for (const Lifetime& l : lifetimes) sizes.push_back(round_up(l.bytes, l.alignment));
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (sizes[a] != sizes[b]) return sizes[a] > sizes[b];
    if (lifetimes[a].begin != lifetimes[b].begin) return lifetimes[a].begin < lifetimes[b].begin;
    return a < b;
  });

  Plan plan;
  plan.offsets.resize(lifetimes.size());
  Occupancy occupancy(lifetimes);
  for (const std::size_t i : order) {
    if (sizes[i] == 0) continue;  // nothing to place: offset 0
    const std::size_t offset =
        best_gap(occupancy.taken(lifetimes[i]), sizes[i], lifetimes[i].alignment);
    occupancy.insert(lifetimes[i], {offset, offset + sizes[i]});
    plan.offsets[i] = offset;
    plan.height = std::max(plan.height, offset + sizes[i]);
  }
  return plan;
}

std::unique_ptr<AllocationStrategy> make_greedy_size(const StrategyContext& context) {
  return make_planned(context, plan_greedy_size(context.lifetimes));
}

}  // namespace arenagrad
