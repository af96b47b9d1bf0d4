// A picture for papers and lessons, as a script of gnuplot with its data inside. Values are exact
// bytes; gnuplot divides them by the unit of the axis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/category.h"

namespace arenagrad::cli {

struct PlotSeries {
  std::string name;
  std::string colour;                             // "#0072b2"
  std::vector<std::optional<std::size_t>> bytes;  // one for each place; none: a gap
};

/// A size that is drawn across the picture.
struct PlotMark {
  std::string name;
  std::size_t bytes = 0;
};

/// A choice in a picture of two quantities.
struct PlotPoint {
  double x = 0;
  std::int64_t y = 0;
  std::string label;    // written beside it; may be empty
  bool marked = false;  // full instead of hollow, and on the path
};

/// Choices of one kind. A line goes in steps through those that are marked, in their order: what is
/// to be had for x at most.
struct PlotPath {
  std::string name;
  std::string colour;
  std::vector<PlotPoint> points;
};

struct Plot {
  enum class Kind : std::uint8_t {
    lines,  // a curve for each series over `x`
    areas,  // the series stacked over `x`, first at the bottom
    bars,   // a bar lying at each of `labels`, the series stacked from the left
    points  // `paths` alone
  };
  Kind kind = Kind::lines;
  std::string title, x_title, bytes_title;  // the latter without a unit
  std::vector<std::int64_t> x;              // of lines and areas, ascending
  std::vector<std::string> labels;          // of bars, from the top
  std::vector<std::string> behind;          // what is written behind each bar; may be empty
  std::vector<PlotSeries> series;
  std::vector<PlotSeries> over;  // of areas: curves on top of the stack
  std::vector<PlotMark> marks;
  std::vector<PlotPath> paths;
  bool counts = false;  // of points: y is a number of things, not bytes
};

/// The script, which draws an SVG to stdout. The same picture gives the same text.
std::string gnuplot_script(const Plot& plot);

/// A colour that people with any colour vision tell from the others (Okabe and Ito's palette).
std::string plot_colour(Category category);
/// Of curves, in the same spirit; dashes and points differ as well.
std::string plot_colour(std::size_t curve);

}  // namespace arenagrad::cli
