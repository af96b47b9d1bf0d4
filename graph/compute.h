// Turns Execs into backend calls. Internal to the executor.
#pragma once

#include "graph/contexts.h"
#include "graph/execute.h"

namespace arenagrad {

/// Runs one Exec; returns what it adds to the step's loss (0 for all but read_loss).
double compute(const ExecView& view, Feed& feed);

}  // namespace arenagrad
