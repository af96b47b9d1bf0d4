// What a step computes, counted in its program: the time that is known without a clock.
#pragma once

#include <cstdint>

#include "graph/program.h"

namespace arenagrad {

/// Of one step. Multiply-adds are those of convolutions and linear layers; a backward counts as two
/// forwards. 2^63 - 1 where there are more.
struct StepCost {
  std::int64_t multiply_adds = 0;
  std::int64_t recomputed = 0;    // of these, in forwards that run once more in backward
  std::int64_t kernel_calls = 0;  // of any kind, small ones too

  /// The multiply-adds over those without recomputation: 1 for none of it, at most 4/3 where each
  /// sample passes the network once.
  double times() const;
  friend bool operator==(const StepCost&, const StepCost&) = default;
};

/// Of one of the program's steps. `tape` is the one that was planned.
StepCost step_cost(const Section& step, const Program& program, const Tape& tape);

}  // namespace arenagrad
