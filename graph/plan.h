// Compiles a tape. See docs/design.md, "Planning", for the rules about lives, aliases and
// gradients.
#pragma once

#include "graph/program.h"
#include "kernels/profile.h"

namespace arenagrad {

/// Deterministic and free of side effects. Throws Error for options that make no sense (a
/// micro-batch larger than the batch, batch norm over a single value).
Program plan(const Tape& tape, const Profile& profile, const PlanOptions& options);

}  // namespace arenagrad
