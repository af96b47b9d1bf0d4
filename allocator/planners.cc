#include <memory>
#include <string>

#include "allocator/error.h"
#include "allocator/exact.h"
#include "allocator/greedy.h"
#include "allocator/planned.h"
#include "allocator/planner.h"
#include "allocator/portfolio.h"
#include "allocator/search.h"

namespace arenagrad {
namespace {

constexpr std::string_view kPrefix = "plan:";

Solution proved_by_bound(std::span<const Lifetime> lifetimes, Plan plan) {
  std::size_t bound = lower_bound(lifetimes, true);
  // What never lives has a top all the same, and a plan's height counts it.
  for (const Lifetime& l : lifetimes) bound = std::max(bound, round_up(l.bytes, l.alignment));
  const bool optimal = plan.height == bound;
  return {std::move(plan), bound, optimal, false, 0};
}

Solution solve_greedy_best(std::span<const Lifetime> lifetimes, const Budget&, const Watch&) {
  return proved_by_bound(lifetimes, plan_greedy_size(lifetimes));
}

Solution solve_greedy_first(std::span<const Lifetime> lifetimes, const Budget&, const Watch&) {
  const std::vector<std::size_t> order = ordered(lifetimes, Order::size);
  return proved_by_bound(lifetimes, place_in_order(lifetimes, order, GapRule::first));
}

Solution solve_portfolio(std::span<const Lifetime> lifetimes, const Budget&, const Watch&) {
  return proved_by_bound(lifetimes, plan_portfolio(lifetimes));
}

constexpr PlannerInfo kPlanners[] = {
    {"plan:greedy-size", "largest first, each into its best gap", 0, solve_greedy_best},
    {"plan:greedy-size-first", "largest first, each into its first gap", 0, solve_greedy_first},
    {"plan:portfolio", "the lowest of six greedy orders with two gap rules", 0, solve_portfolio},
    {"plan:search", "hill climbing from the portfolio's plan", 200'000, solve_search},
    {"plan:exact", "branch and bound: optimal, or a plan and a proven gap", 2'000'000, solve_exact},
};

std::string_view bare(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

std::unique_ptr<AllocationStrategy> replay(const StrategyContext& context, std::string_view name) {
  const PlannerInfo& planner = find_planner(name);
  return make_planned(context, planner.solve(context.lifetimes, planner.default_budget(), {}).plan);
}

}  // namespace

std::span<const PlannerInfo> planners() { return kPlanners; }

const PlannerInfo& find_planner(std::string_view name) {
  std::string list;
  for (const PlannerInfo& info : kPlanners) {
    if (bare(info.name) == bare(name)) return info;
    list += (list.empty() ? "" : ", ") + std::string(info.name);
  }
  throw Error("unknown planner; expected one of " + list + "; got \"" + std::string(name) + "\"");
}

// The planners as strategies: with the default budgets and no clock, so that a dry run plans as a
// real one does.
std::unique_ptr<AllocationStrategy> make_greedy_size_first(const StrategyContext& context) {
  return replay(context, "greedy-size-first");
}

std::unique_ptr<AllocationStrategy> make_portfolio(const StrategyContext& context) {
  return replay(context, "portfolio");
}

std::unique_ptr<AllocationStrategy> make_search(const StrategyContext& context) {
  return replay(context, "search");
}

std::unique_ptr<AllocationStrategy> make_exact(const StrategyContext& context) {
  return replay(context, "exact");
}

}  // namespace arenagrad
