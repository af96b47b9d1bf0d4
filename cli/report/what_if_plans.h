// The sweeps behind a what-if panel, made on the spot.
#pragma once

#include <vector>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/report/section.h"

namespace arenagrad::cli {

/// Sweeps of the model of --what-if over batches in every gradient mode, for each saved policy,
/// kind of optimizer and image size: documents as `sweep` writes them, without what a panel doesn't
/// read, and with `refused`: why a mode is left out.
std::vector<ReportInput> what_if_plans(const Flags& flags, const Console& console);

}  // namespace arenagrad::cli
