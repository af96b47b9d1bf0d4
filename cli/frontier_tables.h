// Memory against time, of `sweep` and of `fit`: as a table, as JSON, as a sentence, as a picture.
#pragma once

#include <optional>
#include <string>

#include "cli/output.h"
#include "cli/plot.h"
#include "cli/table.h"
#include "experiments/fit.h"
#include "experiments/sweep.h"

namespace arenagrad::cli {

Table frontier_table(const Sweep& sweep);
Table frontier_table(const Fit& fit);
/// The same without rows.
Table empty_frontier_of_fit();

Json to_json(const FrontierPoint& point);
Json to_json(const FitOnFrontier& way);

/// What the cheapest and the smallest way of each mode take, of those that fit in the capacity
/// (kUnlimited: all do). Empty where none was planned.
std::string frontier_text(const Sweep& sweep, std::size_t capacity);
/// How far recomputation reaches; and which way reaches `effective` samples for the least, if that
/// is given.
std::string frontier_text(const Fit& fit, std::optional<std::int64_t> effective);

/// The choices with the frontier through them, one for each mode. None where nothing was planned.
std::optional<Plot> frontier_plot(const Sweep& sweep, const SweepOptions& options,
                                  const std::string& model);
std::optional<Plot> frontier_plot(const Fit& fit, const std::string& model);

}  // namespace arenagrad::cli
