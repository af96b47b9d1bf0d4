// The one file that a report is.
#pragma once

#include <string>
#include <vector>

#include "cli/report/section.h"

namespace arenagrad::cli {

/// Loads nothing from anywhere: its policy forbids it. `what_if` are sweeps for the panel alone.
/// Throws Error for documents that have nothing to show.
std::string report_page(const std::vector<ReportInput>& inputs,
                        const std::vector<ReportInput>& what_if);

}  // namespace arenagrad::cli
