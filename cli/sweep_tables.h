// A sweep as tables and as JSON.
#pragma once

#include "cli/output.h"
#include "cli/table.h"
#include "experiments/sweep.h"

namespace arenagrad::cli {

/// A row for each point; with `thinned`, about twenty of many.
Table points_table(const Sweep& sweep, bool over_inputs, bool thinned);
Table pieces_table(const Decomposition& decomposition);
/// The ruling line by category.
Table line_table(const Decomposition& decomposition);
/// A first column with the mode, for where a table's title is not written.
void name_mode(Table& table, GradientMode mode);
/// Whether real runs had the ledgers that were planned.
Table real_table(const Sweep& sweep);

Json to_json(const SweepPoint& point);
Json to_json(const Decomposition& decomposition);
Json by_category(const SignedBytes& bytes);

}  // namespace arenagrad::cli
