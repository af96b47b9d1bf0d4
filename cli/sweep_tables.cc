#include "cli/sweep_tables.h"

#include <fmt/format.h>

#include "cli/to_json.h"

namespace arenagrad::cli {
namespace {

Count count(std::size_t bytes) { return Count{static_cast<std::int64_t>(bytes)}; }

std::string failure_of(const SweepPoint& point) {
  return point.error.empty() ? "does not fit" : point.error;
}

Cell input_of(const SweepPoint& point) {
  return point.input.rank() == 0 ? Cell{} : Cell{point.input.text()};
}

bool planned(const SweepPoint& point) { return point.error.empty(); }

/// Rows of a long table that are shown: about twenty, with the first and the last.
std::vector<std::size_t> chosen(std::size_t rows, bool thinned) {
  const std::size_t stride = thinned && rows > 24 ? (rows + 19) / 20 : 1;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < rows; ++i)
    if (i % stride == 0 || i + 1 == rows) result.push_back(i);
  return result;
}

}  // namespace

Table points_table(const Sweep& sweep, bool over_inputs, bool thinned) {
  const auto rows = chosen(sweep.points.size(), thinned);
  Table table{"bytes requested at the peak",
              {{"mode", "mode"},
               over_inputs ? Column{"input", "input", true} : Column{"batch", "batch", true},
               {"peak", "peak_requested", true},
               {"parameters", "parameter", true},
               {"gradients", "parameter_gradient", true},
               {"activations", "activation", true},
               {"stashes", "stash", true},
               {"activation gradients", "activation_gradient", true},
               {"workspace", "workspace", true},
               {"footprint", "footprint", true},
               {"peak set by", "peak_at"}},
              {},
              {}};
  if (rows.size() < sweep.points.size())
    table.title += fmt::format(" ({} of {} points)", rows.size(), sweep.points.size());
  for (const auto i : rows) {
    const auto& point = sweep.points[i];
    const auto of = [&](Category category) -> Cell {
      if (!planned(point)) return {};
      return count(point.peak.by_category[static_cast<std::size_t>(category)]);
    };
    table.rows.push_back(
        {std::string(name(point.mode)), over_inputs ? input_of(point) : Cell{Count{point.batch}},
         planned(point) ? Cell{Bytes{point.peak.requested}} : Cell{}, of(Category::parameter),
         of(Category::parameter_gradient), of(Category::activation), of(Category::stash),
         of(Category::activation_gradient), of(Category::workspace),
         planned(point) && point.fits ? Cell{count(point.footprint)} : Cell{},
         planned(point) && point.fits ? point.peak.where() : failure_of(point)});
  }
  return table;
}

Table pieces_table(const Decomposition& decomposition) {
  Table table{fmt::format("{}: a maximum of {} linear function{}", name(decomposition.mode),
                          decomposition.pieces.size(), decomposition.pieces.size() == 1 ? "" : "s"),
              {{"from", "from", true},
               {"to", "to", true},
               {"fixed", "fixed", true},
               {"per sample", "per_sample", true},
               {"per micro-batch", "per_forward", true},
               {"workspace in fixed", "workspace", true},
               {"peak set by", "peak_at"}},
              {},
              {}};
  for (const auto& piece : decomposition.pieces)
    table.rows.push_back({Count{piece.from}, Count{piece.to}, Count{total(piece.line.fixed)},
                          Count{total(piece.line.per_sample)}, Count{total(piece.line.per_forward)},
                          Count{piece.line.fixed[static_cast<std::size_t>(Category::workspace)]},
                          piece.peak_at});
  return table;
}

Table line_table(const Decomposition& decomposition) {
  Table table{fmt::format("{}: bytes by category, from batch {} on", name(decomposition.mode),
                          decomposition.valid_from),
              {{"category", "category"},
               {"fixed", "fixed", true},
               {"per sample", "per_sample", true},
               {"per micro-batch", "per_forward", true}},
              {},
              {}};
  const auto& line = decomposition.line;
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    if (line.fixed[c] == 0 && line.per_sample[c] == 0 && line.per_forward[c] == 0) continue;
    table.rows.push_back({std::string(kCategoryNames[c]), Count{line.fixed[c]},
                          Count{line.per_sample[c]}, Count{line.per_forward[c]}});
  }
  table.totals.push_back({std::string("total"), Count{total(line.fixed)},
                          Count{total(line.per_sample)}, Count{total(line.per_forward)}});
  return table;
}

void name_mode(Table& table, GradientMode mode) {
  table.columns.insert(table.columns.begin(), {"mode", "mode"});
  for (auto* rows : {&table.rows, &table.totals})
    for (auto& row : *rows) row.insert(row.begin(), std::string(name(mode)));
}

Table real_table(const Sweep& sweep) {
  Table table{"run for real",
              {{"mode", "mode"},
               {"batch", "batch", true},
               {"input", "input", true},
               {"ledger is the plan's", "planned_equals_observed"},
               {"step", "step_seconds", true},
               {"context", "context", true},
               {"not run", "error"}},
              {},
              {}};
  for (const auto& point : sweep.points) {
    std::vector<Cell> row{std::string(name(point.mode)), Count{point.batch}, input_of(point)};
    if (point.real) {
      row.insert(row.end(),
                 {std::string(point.real->same_ledger ? "yes" : "NO"),
                  Duration{point.real->step_seconds}, Bytes{point.real->context}, Cell{}});
    } else {
      const bool tried = planned(point) && point.fits;
      row.insert(row.end(), {Cell{}, Cell{}, Cell{}, tried ? point.real_error : failure_of(point)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json by_category(const SignedBytes& bytes) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCategoryCount; ++i) json[std::string(kCategoryNames[i])] = bytes[i];
  return json;
}

Json to_json(const SweepPoint& point) {
  Json json{{"batch", point.batch}, {"mode", name(point.mode)}};
  json["input"] = point.input.rank() == 0 ? Json(nullptr) : Json(point.input.text());
  json["error"] = planned(point) ? Json(nullptr) : Json(point.error);
  json["bytes"] = nullptr;
  json["peak_at"] = nullptr;
  json["multiply_adds"] = planned(point) ? Json(point.cost.multiply_adds) : Json(nullptr);
  json["kernel_calls"] = planned(point) ? Json(point.cost.kernel_calls) : Json(nullptr);
  json["fits"] = planned(point) && point.fits;
  if (planned(point)) {
    const auto if_fits = [&](std::size_t bytes) {
      return point.fits ? Json(bytes) : Json(nullptr);
    };
    json["bytes"] = {{"by_category_at_peak", by_category(point.peak.by_category)},
                     {"peak_requested", point.peak.requested},
                     {"saved", point.saved.total},
                     {"saved_per_sample", point.saved.per_sample},
                     {"saved_fixed", point.saved.fixed},
                     {"peak_granted", if_fits(point.granted)},
                     {"footprint", if_fits(point.footprint)},
                     {"reserved", if_fits(point.reserved)}};
    json["peak_at"] = point.peak.where();
  }
  json["real"] = nullptr;
  if (point.real)
    json["real"] = {{"planned_equals_observed", point.real->same_ledger},
                    {"step_seconds", point.real->step_seconds},
                    {"context", point.real->context}};
  json["real_error"] = point.real_error.empty() ? Json(nullptr) : Json(point.real_error);
  return json;
}

Json to_json(const Decomposition& decomposition) {
  Json json{{"micro_batch",
             decomposition.micro_batch == 0 ? Json(nullptr) : Json(decomposition.micro_batch)}};
  const auto put_line = [](Json& to, const BatchLine& line) {
    to["fixed"] = by_category(line.fixed);
    to["per_sample"] = by_category(line.per_sample);
    to["per_forward"] = by_category(line.per_forward);
  };
  put_line(json, decomposition.line);
  json["valid_from"] = decomposition.valid_from;
  json["largest_residual"] = decomposition.largest_residual;
  const bool has_residual = decomposition.largest_residual > 0;
  json["residual_at"] = has_residual ? Json(decomposition.residual_at) : Json(nullptr);
  json["residual_cause"] = has_residual ? Json(decomposition.residual_cause) : Json(nullptr);
  json["largest_rounding"] = decomposition.largest_rounding;
  const auto& outgrow = decomposition.activations_outgrow_parameters;
  json["activations_outgrow_parameters"] = outgrow ? Json(*outgrow) : Json(nullptr);
  json["pieces"] = Json::array();
  for (const auto& piece : decomposition.pieces) {
    Json one{{"from", piece.from}, {"to", piece.to}, {"peak_at", piece.peak_at}};
    put_line(one, piece.line);
    json["pieces"].push_back(std::move(one));
  }
  return json;
}

}  // namespace arenagrad::cli
