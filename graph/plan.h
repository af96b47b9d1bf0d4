// Compiles a tape. See docs/design.md, "Planning", for the rules about lives, aliases and
// gradients.
#pragma once

#include "graph/program.h"
#include "kernels/profile.h"

namespace arenagrad {

/// The program of an accumulated graph is unrolled: more than this is a mistake, not an experiment.
inline constexpr std::int64_t kMostRecordedForwards = 1 << 16;

/// A gradient mode that would not give the network's gradient: per-step under a loss that couples
/// samples, two-pass over batch statistics. Says why, and what to do.
class ModeRefused : public Error {
 public:
  using Error::Error;
};

/// Deterministic and free of side effects. Throws ModeRefused. Throws Error for options that make
/// no sense (a micro-batch larger than the batch, batch norm over a single value).
Program plan(const Tape& tape, const Profile& profile, const PlanOptions& options);

}  // namespace arenagrad
