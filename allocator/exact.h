// The planner that knows when it is done.
#pragma once

#include "allocator/planner.h"

namespace arenagrad {

/// Tries the proven bound first, then goes down from the portfolio's plan, which it keeps; ends
/// with a plan at the bound, or with the budget and the best plan and bound so far.
Solution solve_exact(std::span<const Lifetime> lifetimes, const Budget& budget, const Watch& watch);

}  // namespace arenagrad
