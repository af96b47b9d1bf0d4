#include "allocator/nearest.h"
#include "allocator/strategy.h"

namespace arenagrad {

// Each defined in the strategy's own file.
using Maker = std::unique_ptr<AllocationStrategy>(const StrategyContext&);
Maker make_caching, make_expandable, make_bfc, make_bfc_two_ended, make_tlsf, make_buddy,
    make_stitch;
Maker make_bump, make_best_fit, make_first_fit, make_greedy_size;
Maker make_greedy_size_first, make_portfolio, make_search, make_exact;
Maker make_pool_async;

namespace {

constexpr std::string_view kPlanPrefix = "plan:";

constexpr StrategyInfo kStrategies[] = {
    {.name = "bump",
     .summary = "never reuses memory: what a step takes in all",
     .offline = false,
     .make = make_bump,
     .reuses = false},
    {"best-fit", "one growing heap, smallest sufficient hole", false, make_best_fit},
    {"first-fit", "one growing heap, lowest sufficient hole", false, make_first_fit},
    {"tlsf", "one growing heap, two-level segregated fit in constant time", false, make_tlsf},
    {"buddy", "blocks of powers of two", false, make_buddy},
    {"bfc", "TensorFlow's best-fit with coalescing in one region", false, make_bfc},
    {"bfc-two-ended", "the same from both ends: what persists low, what a step makes high", false,
     make_bfc_two_ended, true},
    {"caching", "PyTorch's caching allocator", false, make_caching, true},
    {"expandable", "PyTorch's caching allocator with expandable segments", false, make_expandable,
     true},
    {"stitch", "GMLake's stitching: buffers of any free 2 MiB pages, mapped side by side", false,
     make_stitch},
    {"plan:greedy-size", "planned from all lifetimes, largest first, each into its best gap", true,
     make_greedy_size},
    {"plan:greedy-size-first", "planned, largest first, each into its first gap", true,
     make_greedy_size_first},
    {.name = "plan:portfolio",
     .summary = "planned, the lowest of six greedy orders with two gap rules",
     .offline = true,
     .make = make_portfolio,
     .searches = true},
    {.name = "plan:search",
     .summary = "planned by hill climbing from the portfolio's plan",
     .offline = true,
     .make = make_search,
     .searches = true},
    {.name = "plan:exact",
     .summary = "planned by branch and bound: the lowest there is, or close",
     .offline = true,
     .make = make_exact,
     .searches = true},
};

constexpr StrategyInfo kOpaque[] = {
    {.name = "pool-async",
     .summary = "each buffer from cudaMallocAsync's pool; run on a GPU alone, offsets unknown",
     .offline = false,
     .make = make_pool_async,
     .opaque = true},
};

std::vector<const StrategyInfo*> all() {
  std::vector<const StrategyInfo*> all;
  for (const StrategyInfo& info : kStrategies) all.push_back(&info);
  for (const StrategyInfo& info : kOpaque) all.push_back(&info);
  return all;
}

std::string_view bare(std::string_view name) {
  return name.starts_with(kPlanPrefix) ? name.substr(kPlanPrefix.size()) : name;
}

const StrategyInfo& find_among(const std::vector<const StrategyInfo*>& known,
                               std::string_view name) {
  for (const StrategyInfo* info : known) {
    if (info->name == name || bare(info->name) == name) return *info;
  }
  std::string list;
  std::vector<std::string_view> bare_names;
  for (const StrategyInfo* info : known) {
    list += (list.empty() ? "" : ", ") + std::string(info->name);
    bare_names.push_back(bare(info->name));
  }
  std::string message =
      "unknown strategy; expected one of " + list + "; got \"" + std::string(name) + "\"";
  const std::string_view nearest = nearest_name(bare(name), bare_names);
  for (const StrategyInfo* info : known) {
    if (!nearest.empty() && bare(info->name) == nearest) {
      message += "; did you mean " + std::string(info->name) + "?";
    }
  }
  throw Error(message);
}

}  // namespace

std::span<const StrategyInfo> strategies() { return kStrategies; }
std::span<const StrategyInfo> opaque_strategies() { return kOpaque; }

const StrategyInfo& find_strategy(std::string_view name) { return find_among(all(), name); }

const StrategyInfo& find_placing_strategy(std::string_view name) {
  for (const StrategyInfo& info : kOpaque)
    if (info.name == name)
      throw Error("expected one that says where buffers lie, got " + std::string(name) +
                  ", which is opaque: only a run on a GPU has it");
  std::vector<const StrategyInfo*> known;
  for (const StrategyInfo& info : kStrategies) known.push_back(&info);
  return find_among(known, name);
}

}  // namespace arenagrad
