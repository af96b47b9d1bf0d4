#include "allocator/portfolio.h"

#include "allocator/greedy.h"

namespace arenagrad {

Plan plan_portfolio(std::span<const Lifetime> lifetimes) {
  const std::size_t bound = lower_bound(lifetimes, true);
  Plan best;
  bool any = false;
  // Size first: where it is good it is often perfect, and the rest is saved.
  for (const Order order : {Order::size, Order::start, Order::lifetime, Order::area, Order::breadth,
                            Order::conflicts}) {
    const std::vector<std::size_t> positions = ordered(lifetimes, order);
    for (const GapRule rule : {GapRule::best, GapRule::first}) {
      Plan plan = place_in_order(lifetimes, positions, rule);
      if (any && plan.height >= best.height) continue;
      best = std::move(plan);
      any = true;
      if (best.height <= bound) return best;
    }
  }
  return best;
}

}  // namespace arenagrad
