// Runs an offline plan as a strategy.
#pragma once

#include <memory>

#include "allocator/strategy.h"

namespace arenagrad {

/// Hands out `plan`, made for `context.lifetimes` (each buffer has one), out of memory for all of
/// its height that is taken at the first request. A buffer's id says which allocation of a step it
/// is; each step may ask for it again.
///
/// A program that keeps to the lifetimes gets the planned offsets and nothing else. Where it
/// departs from them (a buffer that is not in the plan, of another size or stricter alignment, or
/// whose bytes are taken by one that should have been freed or was not yet to live) that request
/// alone falls back to best-fit in a heap above the plan; the plan goes on as if it had not been
/// made. From the first such request on the whole height counts as used. ContractError for a plan
/// that does not validate.
std::unique_ptr<AllocationStrategy> make_planned(const StrategyContext& context, const Plan& plan);

}  // namespace arenagrad
