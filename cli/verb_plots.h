// What --plot draws of each verb's result.
#pragma once

#include <optional>
#include <string>

#include "cli/plot.h"
#include "experiments/compare.h"
#include "experiments/lab.h"
#include "experiments/sweep.h"

namespace arenagrad::cli {

/// Of one mode the peak by category, stacked, and the footprint; of several a curve each; bars for
/// a single batch. Over image heights where those were swept. Marked: the capacity, if there is
/// one. None where nothing could be planned.
std::optional<Plot> sweep_plot(const Sweep& sweep, const SweepOptions& options,
                               const std::string& model);

/// A bar for each mode that ran, by category at its peak; the footprint is written behind it.
std::optional<Plot> compare_plot(const Comparison& comparison, const std::string& model);

/// A bar for each strategy: what was asked for, rounding, and the rest of the footprint. Marked:
/// the lower bound. The excess over it is written behind.
std::optional<Plot> lab_plot(const LabReport& report);

}  // namespace arenagrad::cli
