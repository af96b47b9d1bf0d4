// Memory against time: the ways to recompute, and those of them that no other beats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/step_cost.h"
#include "graph/options.h"
#include "graph/tape.h"

namespace arenagrad {

/// Ways that cut the tape at different places: none, `own`, sqrt, and every:K for K = 1, 2, 3, 4,
/// 6, 8, 12 ... (powers of two and half as much again) as long as they cut it. Each once. Throws
/// Error for layers of `own` that are not there.
std::vector<Recompute> ways_to_recompute(const Tape& tape, const Recompute& own);

/// What a choice takes; less is better in both.
struct Tradeoff {
  std::int64_t memory = 0;  // bytes; or another number that is better when it is less
  double time = 0;
};

/// For each choice whether it is on the frontier: no other takes no more of both and less of one.
/// Of equals the first. A choice that could not be made is not.
std::vector<bool> on_frontier(const std::vector<std::optional<Tradeoff>>& choices);

}  // namespace arenagrad
