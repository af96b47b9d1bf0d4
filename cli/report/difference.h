// Bytes of two runs, A and B, beside each other.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "allocator/category.h"
#include "cli/report/section.h"
#include "cli/table.h"

namespace arenagrad::cli {

/// What one thing takes in the one run and in the other.
struct Pair {
  std::array<std::size_t, 2> bytes{}, buffers{};
  std::int64_t difference() const {
    return static_cast<std::int64_t>(bytes[1]) - static_cast<std::int64_t>(bytes[0]);
  }
};

/// "+1.50 KiB (1,536 B)".
std::string difference_text(std::int64_t difference);
/// The same in a table, or "0 B".
Cell difference_cell(const Pair& pair);

using Categories = std::array<Pair, kCategoryCount>;
Categories paired(const CategoryBytes& a, const CategoryBytes& b);
Pair sum(const Categories& pairs);
/// Categories whose bytes differ, the largest difference first.
std::vector<std::size_t> differing(const Categories& pairs);

/// Two runs with events on one axis, phase by phase: a picture, still and live, and its table.
std::string over_phases(const ReportInput& a, const ReportInput& b);

}  // namespace arenagrad::cli
