// The planner that climbs from the portfolio's best plan.
#pragma once

#include "allocator/planner.h"

namespace arenagrad {

/// Ends at the bound or with the budget.
Solution solve_search(std::span<const Lifetime> lifetimes, const Budget& budget,
                      const Watch& watch);

}  // namespace arenagrad
