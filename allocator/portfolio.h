// Many greedy orders and both gap rules; the smallest of their plans.
#pragma once

#include <span>

#include "allocator/offline.h"

namespace arenagrad {

/// The lowest plan over every Order and GapRule, the first among equals. Stops early at the aligned
/// lower bound.
Plan plan_portfolio(std::span<const Lifetime> lifetimes);

}  // namespace arenagrad
