// The one file that a report is.
#pragma once

#include <string>
#include <vector>

#include "cli/report/section.h"

namespace arenagrad::cli {

/// Loads nothing from anywhere: its policy forbids it. Throws Error for documents that have nothing
/// to show.
std::string report_page(const std::vector<ReportInput>& inputs);

}  // namespace arenagrad::cli
