// What `fit` found as tables and as JSON.
#pragma once

#include "cli/output.h"
#include "cli/table.h"
#include "experiments/fit.h"

namespace arenagrad::cli {

/// The batch, what was examined, and the footprints on both sides of the edge.
Table fit_table(const Fit& fit, const FitOptions& options);
/// What the forum's formulas give, and how far off.
Table formulas_table(const Fit& fit);
/// Ways to a larger batch.
Table routes_table(const Fit& fit);
Table remedies_table(const Fit& fit);

/// Appends all keys but the header's and the answer.
void put(Json& object, const Fit& fit, const FitOptions& options);

/// "57 to 73, 75".
std::string text(const std::vector<BatchRange>& ranges);

}  // namespace arenagrad::cli
