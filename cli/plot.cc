#include "cli/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "allocator/traces/utf8.h"

namespace arenagrad::cli {
namespace {

/// In gnuplot's single quotes, in which nothing but a quote means anything. On one line.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : valid_utf8(text)) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "'";
}

struct Unit {
  const char* name;
  double bytes;
};

Unit unit_of(std::size_t largest) {
  for (const Unit unit : {Unit{"GiB", 1 << 30}, Unit{"MiB", 1 << 20}, Unit{"KiB", 1 << 10}})
    if (static_cast<double>(largest) >= 2 * unit.bytes) return unit;
  return {"B", 1};
}

std::size_t height_at(const std::vector<PlotSeries>& stack, std::size_t place) {
  std::size_t sum = 0;
  for (const auto& series : stack) sum += series.bytes[place].value_or(0);
  return sum;
}

/// The largest size that the axis has to hold.
std::size_t largest(const Plot& plot) {
  std::size_t most = 1;
  for (const auto& mark : plot.marks) most = std::max(most, mark.bytes);
  for (const auto& path : plot.paths)
    for (const auto& point : path.points) most = std::max(most, static_cast<std::size_t>(point.y));
  const auto places = std::max(plot.x.size(), plot.labels.size());
  for (std::size_t i = 0; i < places; ++i) {
    if (plot.kind != Plot::Kind::lines) most = std::max(most, height_at(plot.series, i));
    for (const auto& series : plot.kind == Plot::Kind::lines ? plot.series : plot.over)
      most = std::max(most, series.bytes[i].value_or(0));
  }
  return most;
}

/// A line for each place: where it is, then each series.
std::string data_of(const Plot& plot) {
  std::string text = "$data << END\n";
  const bool bars = plot.kind == Plot::Kind::bars;
  for (std::size_t i = 0; i < (bars ? plot.labels.size() : plot.x.size()); ++i) {
    text += std::to_string(bars ? static_cast<std::int64_t>(i) : plot.x[i]);
    for (const auto* list : {&plot.series, &plot.over})
      for (const auto& series : *list)
        text += series.bytes[i] ? fmt::format(" {}", *series.bytes[i]) : " NaN";
    text += '\n';
  }
  return text + "END\n";
}

/// For each path all its points, then those that are marked.
std::string data_of_paths(const Plot& plot) {
  std::string text;
  for (std::size_t i = 0; i < plot.paths.size(); ++i)
    for (const bool marked : {false, true}) {
      text += fmt::format("${}{} << END\n", marked ? "frontier" : "path", i);
      for (const auto& point : plot.paths[i].points)
        if (point.marked || !marked) text += fmt::format("{:.6f} {}\n", point.x, point.y);
      text += "END\n";
    }
  return text;
}

/// "($2+$3)/unit": columns 2 to `last`.
std::string sum_to(std::size_t last) {
  std::string text;
  for (std::size_t column = 2; column <= last; ++column)
    text += fmt::format("{}${}", text.empty() ? "" : "+", column);
  return fmt::format("({})/unit", text.empty() ? "0" : text);
}

/// A curve with dashes and points of its own, points not too dense.
std::string curve(const Plot& plot, const PlotSeries& series, std::size_t column,
                  std::size_t number) {
  constexpr int kPoints[] = {7, 5, 9, 13};
  return fmt::format(
      "$data using 1:(${}/unit) with linespoints lw 2 dt {} pt {} ps 0.7 pi {} lc rgb '{}' title "
      "{}",
      column, number + 1, kPoints[number % std::size(kPoints)], 1 + plot.x.size() / 40,
      series.colour, quoted(series.name));
}

/// Full where marked, and hollow below them all.
std::vector<std::string> clauses_of_paths(const Plot& plot) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < plot.paths.size(); ++i) {
    const auto& path = plot.paths[i];
    const auto style = fmt::format("lc rgb '{}'", path.colour);
    result.push_back(fmt::format(
        "$path{} using 1:($2/unit) with points pt 6 ps 0.9 lw 1.5 {} notitle", i, style));
    result.push_back(fmt::format("$frontier{} using 1:($2/unit) with steps lw 1.5 dt {} {} notitle",
                                 i, i + 1, style));
    result.push_back(
        fmt::format("$frontier{} using 1:($2/unit) with points pt 7 ps 0.9 {} title {}", i, style,
                    quoted(path.name)));
  }
  return result;
}

std::vector<std::string> clauses(const Plot& plot) {
  std::vector<std::string> result;
  const auto columns = plot.series.size() + 1;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    // The highest area comes first, and the lower ones are painted over it.
    const bool areas = plot.kind == Plot::Kind::areas;
    const auto k = areas ? plot.series.size() - 1 - i : i;
    const auto& series = plot.series[k];
    const auto paint =
        fmt::format("fs solid noborder lc rgb '{}' title {}", series.colour, quoted(series.name));
    if (plot.kind == Plot::Kind::lines)
      result.push_back(curve(plot, series, k + 2, k));
    else if (areas)
      result.push_back(
          fmt::format("$data using 1:({}) with filledcurves y1=0 {}", sum_to(k + 2), paint));
    else
      result.push_back(
          fmt::format("$data using (0):1:({}):({}):($1-0.36):($1+0.36) with boxxyerror {}",
                      sum_to(k + 1), sum_to(k + 2), paint));
  }
  for (std::size_t i = 0; i < plot.over.size(); ++i)
    result.push_back(curve(plot, plot.over[i], columns + 1 + i, i));
  for (auto& clause : clauses_of_paths(plot)) result.push_back(std::move(clause));
  for (const auto& mark : plot.marks) {
    const auto style =
        fmt::format("with lines lw 1.5 dt 3 lc rgb '#000000' title {}", quoted(mark.name));
    result.push_back(plot.kind == Plot::Kind::bars
                         ? fmt::format("'+' using ({}/unit):(-0.5+{}*$0) every ::::1 {}",
                                       mark.bytes, plot.labels.size(), style)
                         : fmt::format("{}/unit {}", mark.bytes, style));
  }
  return result;
}

/// Where a label lies, in letters' widths and lines from the lower left corner.
struct Place {
  double left, right, line;
  bool meets(const Place& other) const {
    return left < other.right && other.left < right && std::abs(line - other.line) < 1;
  }
};

/// Each above its point, below it where another label lies there, and left out where both places
/// are taken: the table has them all. `width` and `height` are the axes' spans.
std::string labels_of_paths(const Plot& plot, double width, double height) {
  // The area inside the axes in letters and lines of the labels' font, less than it has.
  constexpr double kLetters = 85, kLines = 24;
  std::string text;
  std::vector<Place> taken;
  for (const auto& path : plot.paths)
    for (const auto& point : path.points) {
      if (point.label.empty()) continue;
      const double left = point.x / width * kLetters;
      const double line = static_cast<double>(point.y) / height * kLines;
      for (const double up : {0.5, -0.6}) {
        const Place place{left, left + static_cast<double>(point.label.size() + 1), line + up};
        if (std::ranges::any_of(taken, [&](const Place& other) { return place.meets(other); }))
          continue;
        taken.push_back(place);
        text += fmt::format(
            "set label {} at first {:.6f},{}/unit left offset character 0.6,{} font ',11'\n",
            quoted(point.label), point.x, point.y, up);
        break;
      }
    }
  return text;
}

/// Room at the right for what is written beside the last point.
std::string axes_of_paths(const Plot& plot, const Unit& unit, std::size_t most,
                          const std::string& y_title) {
  double last = 1;
  for (const auto& path : plot.paths)
    for (const auto& point : path.points) last = std::max(last, point.x);
  const double margin = std::max(0.02, 0.05 * (last - 1));
  auto text = fmt::format(
      "set xlabel {}\nset ylabel {}\nset xrange [{:.6g}:{:.6g}]\nset yrange [0:{:.6g}]\n"
      "set grid y lt 1 lc rgb '#d8d8d8'\nset key outside right top Left reverse samplen 2\n",
      quoted(plot.x_title), y_title, 1 - margin, last + 3 * margin,
      1.08 * static_cast<double>(most) / unit.bytes);
  return text + labels_of_paths(plot, last - 1 + 4 * margin, 1.08 * static_cast<double>(most));
}

std::string axes(const Plot& plot, const Unit& unit, std::size_t most) {
  const auto bytes_title =
      quoted(plot.counts ? plot.bytes_title : fmt::format("{} ({})", plot.bytes_title, unit.name));
  if (plot.kind == Plot::Kind::points) return axes_of_paths(plot, unit, most, bytes_title);
  if (plot.kind != Plot::Kind::bars)
    return fmt::format(
        "set xlabel {}\nset ylabel {}\nset xrange [{}:{}]\nset yrange [0:{:.6g}]\n"
        "set grid y lt 1 lc rgb '#d8d8d8'\nset key outside right top Left reverse samplen 2\n",
        quoted(plot.x_title), bytes_title, plot.x.front(), plot.x.back(),
        1.05 * static_cast<double>(most) / unit.bytes);
  // Room behind the longest bar for what is written there.
  std::size_t letters = 0;
  for (const auto& text : plot.behind) letters = std::max(letters, text.size());
  std::string text = fmt::format(
      "set xlabel {}\nset xrange [0:{:.6g}]\nset yrange [{}:-0.5]\n"
      "set grid x lt 1 lc rgb '#d8d8d8'\nset key outside right top Left reverse samplen 2\nset "
      "ytics (",
      bytes_title,
      static_cast<double>(most) / unit.bytes * (1.04 + 0.02 * static_cast<double>(letters)),
      static_cast<double>(plot.labels.size()) - 0.5);
  for (std::size_t i = 0; i < plot.labels.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(plot.labels[i]), i);
  text += ")\n";
  for (std::size_t i = 0; i < plot.behind.size(); ++i)
    text += fmt::format("set label {} at first {}/unit,{} left offset character 0.7,0\n",
                        quoted(plot.behind[i]), height_at(plot.series, i), i);
  return text;
}

}  // namespace

std::string gnuplot_script(const Plot& plot) {
  const auto most = largest(plot);
  const auto unit = plot.counts ? Unit{"", 1} : unit_of(most);
  const auto height = plot.kind == Plot::Kind::bars ? 190 + 30 * plot.labels.size() : 480;
  std::string text = fmt::format(
      "set terminal svg size 880,{} fixed noenhanced font 'sans-serif,14' background '#ffffff'\n"
      "set encoding utf8\nset samples 2\nset border 3\n"
      "set tics nomirror out\nunit = {:.1f}\nset title {}\n",
      height, unit.bytes, quoted(plot.title));
  text += axes(plot, unit, most);
  text += plot.kind == Plot::Kind::points ? data_of_paths(plot) : data_of(plot);
  return text + fmt::format("plot {}\n", fmt::join(clauses(plot), ", \\\n  "));
}

std::string plot_colour(Category category) {
  constexpr const char* kColours[kCategoryCount] = {"#0072b2", "#56b4e9", "#003a5c", "#6e6e6e",
                                                    "#b4b4b4", "#e69f00", "#f0e442", "#d55e00",
                                                    "#009e73", "#cc79a7"};
  return kColours[static_cast<std::size_t>(category)];
}

std::string plot_colour(std::size_t curve) {
  constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#000000"};
  return kColours[curve % std::size(kColours)];
}

}  // namespace arenagrad::cli
