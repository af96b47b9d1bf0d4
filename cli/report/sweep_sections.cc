#include <fmt/format.h>

#include <cstdlib>

#include "allocator/units.h"
#include "cli/frontier_tables.h"
#include "cli/report/html.h"
#include "cli/report/section.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

std::int64_t sum(const Json& categories) {
  std::int64_t total = 0;
  for (const auto& [name, value] : categories.items()) total += value.get<std::int64_t>();
  return total;
}

/// "-12"; "0".
std::string signed_text(std::int64_t value) {
  return (value < 0 ? "-" : "") + with_commas(std::int64_t{std::llabs(value)});
}

/// What the picture is drawn over: the batch, or the last side of "3x224x224".
double across(const Json& point, bool over_inputs) {
  if (!over_inputs) return point.at("batch").get<double>();
  const auto& input = point.at("input");
  if (input.is_null()) return 0;
  const auto text = input.get<std::string>();
  return std::strtod(text.c_str() + text.rfind('x') + 1, nullptr);
}

/// The ruling line from batch 0 on: where it begins is what is fixed, how it rises what a sample
/// takes.
Curve line_of(const std::string& mode, const Json& d, double last, std::size_t colour) {
  const auto fixed = sum(d.at("fixed")), slope = sum(d.at("per_sample")),
             forward = sum(d.at("per_forward"));
  const double micro = d.at("micro_batch").is_null() ? 0 : d.at("micro_batch").get<double>();
  auto label = fmt::format("{}: {} + {} x batch", mode, signed_text(fixed), signed_text(slope));
  if (forward != 0) label += fmt::format(" + {} x micro-batches", signed_text(forward));
  const double rise =
      static_cast<double>(slope) + (micro > 0 ? static_cast<double>(forward) / micro : 0.0);
  const double begin =
      static_cast<double>(fixed) + (micro > 0 ? 0.0 : static_cast<double>(forward));
  return {label, colour, true, {{0, begin}, {last, begin + rise * last}}};
}

Table points_table(const Json& points) {
  Table table{"points",
              {{"mode", "mode"},
               {"batch", "batch", true},
               {"input", "input"},
               {"peak requested", "peak_requested", true},
               {"footprint", "footprint", true},
               {"peak set by", "peak_at"}},
              {},
              {}};
  for (const auto& point : points) {
    const auto& bytes = point.at("bytes");
    const auto of = [&](const char* key) -> Cell {
      if (bytes.is_null() || bytes.at(key).is_null()) return {};
      return Bytes{bytes.at(key).get<std::size_t>()};
    };
    const auto text = [&](const char* key) {
      return point.at(key).is_null() ? std::string() : point.at(key).get<std::string>();
    };
    table.rows.push_back({text("mode"), Count{point.at("batch").get<std::int64_t>()}, text("input"),
                          of("peak_requested"), of("footprint"),
                          bytes.is_null() ? text("error") : text("peak_at")});
  }
  return table;
}

Table pieces_table(const std::string& mode, const Json& d) {
  Table table{mode + ": the pieces, exact",
              {{"batch", "batch"},
               {"fixed", "fixed", true},
               {"per sample", "per_sample", true},
               {"per micro-batch", "per_forward", true},
               {"peak set by", "peak_at"}},
              {},
              {}};
  for (const auto& piece : d.at("pieces"))
    table.rows.push_back(
        {fmt::format("{} to {}", piece.at("from").get<std::int64_t>(),
                     piece.at("to").get<std::int64_t>()),
         signed_text(sum(piece.at("fixed"))), signed_text(sum(piece.at("per_sample"))),
         signed_text(sum(piece.at("per_forward"))), piece.at("peak_at").get<std::string>()});
  return table;
}

bool has(const Json& json, const char* key) { return json.contains(key) && !json[key].is_null(); }

/// Cells of the numbers that are there.
Cell bytes_of(const Json& json, const char* key) {
  return has(json, key) ? Cell{Bytes{json[key].get<std::size_t>()}} : Cell{};
}
Cell count_of(const Json& json, const char* key) {
  return has(json, key) ? Cell{Count{json[key].get<std::int64_t>()}} : Cell{};
}
Cell times_of(const Json& way) {
  return has(way, "times") ? Cell{Real{way["times"].get<double>()}} : Cell{};
}
/// Whether a way is on the frontier, or what keeps it away.
Cell verdict_of(const Json& way) {
  if (has(way, "error")) return way["error"].get<std::string>();
  if (has(way, "fits") && !way["fits"].get<bool>()) return std::string("does not fit");
  return std::string(way.at("optimal").get<bool>() ? "yes" : "");
}

/// Each way to recompute of a sweep: a bar of what is live at its peak, and all in numbers.
std::string frontier_of_sweep(const Json& ways) {
  Table table{"memory against time: ways to recompute",
              {{"mode", "mode"},
               {"recompute", "recompute"},
               {"peak", "peak_requested", true},
               {"multiply-adds", "multiply_adds", true},
               {"times none's", "times", true},
               {"kernel calls", "kernel_calls", true},
               {"frontier", "optimal"}},
              {},
              {}};
  std::vector<Bar> bars;
  CategoryBytes seen{};
  const bool several = ways.front().at("mode") != ways.back().at("mode");  // mode by mode
  for (const auto& way : ways) {
    const auto mode = way.at("mode").get<std::string>();
    const auto recompute = way.at("recompute").get<std::string>();
    const auto& bytes = way.at("bytes");
    table.rows.push_back({mode, recompute, bytes_of(bytes, "peak_requested"),
                          count_of(way, "multiply_adds"), times_of(way),
                          count_of(way, "kernel_calls"), verdict_of(way)});
    if (bytes.is_null()) continue;
    Bar bar{fmt::format("{}, {} times", recompute, shown(times_of(way))), {}};
    if (several) bar.label += ", " + mode;
    for (std::size_t c = 0; c < kCategoryCount; ++c) {
      bar.bytes[c] =
          bytes.at("by_category_at_peak").at(std::string(kCategoryNames[c])).get<std::size_t>();
      seen[c] += bar.bytes[c];
    }
    bars.push_back(std::move(bar));
  }
  const auto& first = ways.front();
  const auto where = fmt::format("batch {}", first.at("batch").get<std::int64_t>()) +
                     (has(first, "input") ? ", " + first["input"].get<std::string>() : "");
  return fmt::format(
             "<p>The peak at {} with each way to recompute, from the least time to the "
             "most: multiply-adds, times those without recomputation.</p>\n",
             escaped(where)) +
         legend(seen) + bar_chart(bars, "the peak of each way to recompute, by category") +
         render_html(table);
}

std::string frontier_of_fit(const Json& ways) {
  Table table = empty_frontier_of_fit();
  for (const auto& way : ways)
    table.rows.push_back({way.at("recompute").get<std::string>(), count_of(way, "largest_batch"),
                          bytes_of(way, "footprint"), count_of(way, "multiply_adds"), times_of(way),
                          count_of(way, "kernel_calls"), verdict_of(way)});
  return "<p>From the least time to the most: multiply-adds, times those without "
         "recomputation.</p>\n" +
         render_html(table);
}

}  // namespace

std::vector<Section> sweep_sections(const ReportInput& input, std::size_t index) {
  if (input.verb != "sweep") return {};
  const auto& json = input.json;
  const auto& decomposition = json.at("decomposition");
  const bool over_inputs = decomposition.empty();
  std::vector<Curve> curves;
  double last = 0;
  for (const auto& point : json.at("points")) {
    const auto mode = point.at("mode").get<std::string>();
    if (point.at("bytes").is_null()) continue;
    if (curves.empty() || curves.back().label != mode)
      curves.push_back({mode, curves.size(), false, {}});
    const double x = across(point, over_inputs);
    last = std::max(last, x);
    curves.back().points.push_back({x, point.at("bytes").at("peak_requested").get<double>()});
  }
  std::string tables;
  for (const auto& [mode, d] : decomposition.items()) {
    if (d.at("pieces").empty()) continue;
    std::size_t colour = 0;
    for (const auto& curve : curves)
      if (curve.label == mode) colour = curve.colour;
    curves.push_back(line_of(mode, d, last, colour));
    tables += render_html(pieces_table(mode, d));
  }
  const std::string x_title = over_inputs ? "input, side" : "batch";
  Section section{fmt::format("sweep-{}", index),
                  over_inputs ? "Bytes against image size" : "Bytes against the batch",
                  {}};
  section.html =
      fmt::format("<div class=\"picture\" data-picture=\"sweep\" data-index=\"{}\">\n{}</div>\n",
                  index, curve_chart(curves, x_title, "peak bytes against " + x_title)) +
      tables + folded("the points as a table", render_html(points_table(json.at("points"))));
  return {section};
}

std::vector<Section> frontier_sections(const ReportInput& input, std::size_t index) {
  if ((input.verb != "sweep" && input.verb != "fit") || !has(input.json, "frontier") ||
      input.json["frontier"].empty())
    return {};
  const auto& ways = input.json["frontier"];
  return {{fmt::format("frontier-{}", index), "Memory against time",
           input.verb == "sweep" ? frontier_of_sweep(ways) : frontier_of_fit(ways)}};
}

}  // namespace arenagrad::cli
