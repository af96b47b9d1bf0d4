// Still pictures: what a page shows without a script, and on paper. Coordinates are in units of a
// picture 960 wide that scales with its box; colours are classes, so that a style sheet decides.
#pragma once

#include <string>
#include <vector>

#include "allocator/category.h"

namespace arenagrad::cli {

/// Bytes by category from `begin` to the next column's `begin`.
struct AreaColumn {
  double begin = 0;
  CategoryBytes bytes{};
};
/// Stacked steps from the first column to `end`; `mark` is a point to mark, with what to say there.
struct AreaChart {
  std::vector<AreaColumn> columns;
  double end = 0;
  std::string x_title;
  double mark = 0;
  std::string mark_text;
};
std::string area_chart(const AreaChart& chart, const std::string& description);

struct Bar {
  std::string label;
  CategoryBytes bytes{};
};
/// One bar below the other, each stacked; sizes behind them. Not SVG: text that keeps its size.
std::string bar_chart(const std::vector<Bar>& bars, const std::string& description);

struct Curve {
  std::string label;
  std::size_t colour = 0;                         // 0 to 9
  bool dashed = false;                            // a dashed curve is a formula's
  std::vector<std::pair<double, double>> points;  // broken where y is not a number
};
std::string curve_chart(const std::vector<Curve>& curves, const std::string& x_title,
                        const std::string& description);

/// A part of an x axis that says what happens there instead of where it is.
struct AxisPart {
  double begin = 0, end = 0;
  std::int64_t step = 0;  // 0: outside of steps
  std::string label;
};
/// The parts follow each other; where there are too many to be named, steps are.
std::string curve_chart(const std::vector<Curve>& curves, const std::vector<AxisPart>& parts,
                        const std::string& description);

/// Rectangles of time x address.
struct Life {
  double from = 0, to = 0, low = 0, high = 0;
  Category category{};
};
std::string life_chart(const std::vector<Life>& lives, double end, double top,
                       const std::string& description);

/// The categories that occur, with their colours.
std::string legend(const CategoryBytes& bytes);

}  // namespace arenagrad::cli
