#include <fmt/format.h>

#include <cstdlib>

#include "allocator/units.h"
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

}  // namespace arenagrad::cli
