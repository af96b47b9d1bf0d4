// Files that were built into the program.
#pragma once

#include <string_view>

namespace arenagrad::cli {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
/// dygraphs with its licence; empty where it was not found when the program was built.
extern const std::string_view kDygraphsScript;
extern const std::string_view kDygraphsStyle;
extern const std::string_view kDygraphsLicence;

}  // namespace arenagrad::cli
