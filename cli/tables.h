// Results as tables, shared by the verbs.
#pragma once

#include "cli/table.h"
#include "experiments/compare.h"
#include "experiments/does_not_fit.h"
#include "experiments/layer_table.h"
#include "experiments/measurement.h"

namespace arenagrad::cli {

/// "resnet18, batch 8, full-batch": what a sentence is about.
std::string subject(const std::string& model, const Settings& settings);

/// What was asked for: mode, policy, strategy and so on.
Table settings_table(const Measurement& measurement);
/// Every figure of the byte report that is one number, and where the peak was set.
Table bytes_table(const Measurement& measurement);
Table category_table(const CategoryBytes& bytes, std::string title);
/// The largest live buffers, "at the peak".
Table top_table(const std::vector<LiveBuffer>& top, std::string_view when);
Table time_table(const Measurement& measurement);
Table loss_table(const Measurement& measurement);

Table layers_table(const LayerTable& table, const std::string& title);

Table modes_table(const Comparison& comparison);
Table pairs_table(const Comparison& comparison);
Table reference_table(const Comparison& comparison);

/// The request, where the memory was, what was live, and how other strategies do.
std::vector<Table> out_of_memory_tables(const OutOfMemoryReport& report);

}  // namespace arenagrad::cli
