// From a recorded run to its timeline.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "allocator/ledger.h"
#include "allocator/traces/trace.h"
#include "cli/report/timeline.h"
#include "experiments/experiment.h"

namespace arenagrad::cli {

/// `log` is all that the ledger of a run of the experiment recorded.
Timeline record_timeline(const Experiment& experiment, std::span<const Event> log);

}  // namespace arenagrad::cli
