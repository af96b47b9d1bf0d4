// Runs an offline plan as a strategy.
#pragma once

#include <memory>

#include "allocator/strategy.h"

namespace arenagrad {

/// Hands out `plan`, made for `context.lifetimes`, out of one fixed reservation of its height that
/// is taken at the first request. Trusts neither plan nor program: each request must be one of the
/// lifetimes (each buffer has exactly one) at its size, and what is placed may not overlap what is
/// live; ContractError otherwise.
std::unique_ptr<AllocationStrategy> make_planned(const StrategyContext& context, const Plan& plan);

}  // namespace arenagrad
