#include <array>

#include "allocator/nearest.h"
#include "allocator/strategy.h"

namespace arenagrad {

// Each defined in the strategy's own file.
using Maker = std::unique_ptr<AllocationStrategy>(const StrategyContext&);
Maker make_bump, make_best_fit, make_first_fit, make_greedy_size;

namespace {

constexpr std::string_view kPlanPrefix = "plan:";

constexpr StrategyInfo kStrategies[] = {
    {"bump", "never reuses memory: what a step takes in all", false, make_bump},
    {"best-fit", "one growing heap, smallest sufficient hole", false, make_best_fit},
    {"first-fit", "one growing heap, lowest sufficient hole", false, make_first_fit},
    {"plan:greedy-size", "planned from all lifetimes, largest first, each into its best gap", true,
     make_greedy_size},
};

std::string_view bare(std::string_view name) {
  return name.starts_with(kPlanPrefix) ? name.substr(kPlanPrefix.size()) : name;
}

}  // namespace

std::span<const StrategyInfo> strategies() { return kStrategies; }

const StrategyInfo& find_strategy(std::string_view name) {
  for (const StrategyInfo& info : kStrategies) {
    if (info.name == name || bare(info.name) == name) return info;
  }
  std::string list;
  std::array<std::string_view, std::size(kStrategies)> bare_names;
  for (std::size_t i = 0; i < std::size(kStrategies); ++i) {
    list += (i > 0 ? ", " : "") + std::string(kStrategies[i].name);
    bare_names[i] = bare(kStrategies[i].name);
  }
  std::string message =
      "unknown strategy; expected one of " + list + "; got \"" + std::string(name) + "\"";
  const std::string_view nearest = nearest_name(bare(name), bare_names);
  for (const StrategyInfo& info : kStrategies) {
    if (!nearest.empty() && bare(info.name) == nearest) {
      message += "; did you mean " + std::string(info.name) + "?";
    }
  }
  throw Error(message);
}

}  // namespace arenagrad
