// From what a run's ledger wrote down to a trace: each event gets its buffer's name and stands
// where the program was.
#pragma once

#include <span>

#include "allocator/traces/trace.h"
#include "experiments/experiment.h"

namespace arenagrad {

/// `log` is all that the ledger of a run of the experiment recorded. Where the run ended because
/// there was no place for a buffer, the trace says which, and the frees that followed.
void record_trace(const Experiment& experiment, std::span<const Event> log, TraceSink& sink);

}  // namespace arenagrad
