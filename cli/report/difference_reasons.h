// Why two runs take what they take: from the settings in which they differ, in words.
#pragma once

#include <string>
#include <vector>

#include "cli/report/section.h"

namespace arenagrad::cli {

struct Reason {
  std::string cause;  // "mode, batch"
  std::string text;   // a sentence or two
  /// Whose bytes at the peak it can change, by category; none: it moves buffers alone.
  std::array<bool, kCategoryCount> changes{};
};

/// In the order of what changes most.
std::vector<Reason> reasons(const ReportInput& a, const ReportInput& b);

/// "mode, batch", of those that can change a category.
std::string causes(const std::vector<Reason>& reasons, std::size_t category);

}  // namespace arenagrad::cli
