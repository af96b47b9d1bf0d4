#include <fmt/format.h>

#include <functional>

#include "cli/tables.h"

namespace arenagrad::cli {
namespace {

/// One row of the table of modes: a name and how a measurement answers.
struct Quantity {
  const char* words;
  std::string key;
  std::function<Cell(const Measurement&)> of;
};

Cell bytes_or_nothing(std::size_t bytes) { return bytes == 0 ? Cell{} : Cell{Bytes{bytes}}; }

std::vector<Quantity> quantities() {
  std::vector<Quantity> list = {
      {"peak requested", "bytes.peak_requested",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.peak_requested}}; }}};
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    list.push_back(
        {nullptr, "bytes.by_category_at_peak." + std::string(kCategoryNames[i]),
         [i](const Measurement& m) { return bytes_or_nothing(m.bytes.by_category_at_peak[i]); }});
  const std::vector<Quantity> rest = {
      {"peak set by", "peak_at",
       [](const Measurement& m) {
         return Cell{m.peak_at.phase + (m.peak_at.layer.empty() ? "" : " of " + m.peak_at.layer)};
       }},
      {"footprint", "bytes.footprint",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.footprint}}; }},
      {"reserved", "bytes.reserved",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.reserved}}; }},
      {"lower bound", "bytes.lower_bound",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.lower_bound}}; }},
      {"saved for backward", "bytes.saved",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.saved}}; }},
      {"persistent", "bytes.persistent",
       [](const Measurement& m) { return Cell{Bytes{m.bytes.persistent}}; }},
      {"books balanced", "balanced",
       [](const Measurement& m) { return Cell{std::string(m.balanced ? "yes" : "NO")}; }},
      {"planned == observed", "planned_equals_observed",
       [](const Measurement& m) {
         return Cell{std::string(m.planned_equals_observed.value_or(false) ? "yes" : "NO")};
       }},
      {"forward", "seconds.forward",
       [](const Measurement& m) { return Cell{Duration{m.seconds ? m.seconds->forward : 0}}; }},
      {"backward", "seconds.backward",
       [](const Measurement& m) { return Cell{Duration{m.seconds ? m.seconds->backward : 0}}; }},
      {"step", "seconds.step_median",
       [](const Measurement& m) { return Cell{Duration{m.seconds ? m.seconds->step_median : 0}}; }},
      {"loss, first step", "losses.0",
       [](const Measurement& m) {
         return m.losses.empty() ? Cell{} : Cell{Real{m.losses[0], 9}};
       }},
      {"loss, last step", "loss", [](const Measurement& m) {
         return m.losses.empty() ? Cell{} : Cell{Real{m.losses.back(), 9}};
       }}};
  list.insert(list.end(), rest.begin(), rest.end());
  return list;
}

bool says_something(const std::vector<Cell>& row) {
  for (std::size_t i = 1; i < row.size(); ++i)
    if (!std::holds_alternative<std::monostate>(row[i])) return true;
  return false;
}

void add_difference_columns(Table& table) {
  table.columns.insert(table.columns.end(), {{"rel_l2", "rel_l2", true},
                                             {"max_abs", "max_abs", true},
                                             {"max_ulp", "max_ulp", true},
                                             {"cosine", "cosine", true},
                                             {"flips", "flips", true}});
}

void add_difference(std::vector<Cell>& row, const Difference& difference, std::uint64_t flips) {
  row.insert(row.end(),
             {Real{difference.rel_l2}, Real{difference.max_abs}, Real{difference.max_ulp},
              Real{difference.cosine, 12}, Count{static_cast<std::int64_t>(flips)}});
}

Cell worst(const Difference& difference) {
  if (difference.worst_parameter.empty()) return {};
  return fmt::format("{} ({:.3g})", difference.worst_parameter, difference.worst_difference);
}

}  // namespace

Table modes_table(const Comparison& comparison) {
  Table table{"modes", {{"", "quantity"}}, {}, {}};
  bool all_ran = true;
  for (const auto& mode : comparison.modes) {
    table.columns.push_back({std::string(name(mode.mode)), std::string(name(mode.mode)), true});
    all_ran = all_ran && mode.measurement.has_value();
  }
  if (!all_ran) {
    std::vector<Cell> row{Label{"ran", "ran"}};
    for (const auto& mode : comparison.modes)
      row.push_back(std::string(mode.measurement ? "yes"
                                : mode.refused   ? "refused"
                                                 : "does not fit"));
    table.rows.push_back(std::move(row));
  }
  for (const auto& quantity : quantities()) {
    const auto words = quantity.words ? std::string(quantity.words)
                                      : "  " + quantity.key.substr(quantity.key.rfind('.') + 1);
    std::vector<Cell> row{Label{words, quantity.key}};
    for (const auto& mode : comparison.modes)
      row.push_back(mode.measurement ? quantity.of(*mode.measurement) : Cell{});
    if (says_something(row)) table.rows.push_back(std::move(row));
  }
  return table;
}

Table pairs_table(const Comparison& comparison) {
  Table table{"pairs (gradients of the first step)", {{"a", "a"}, {"b", "b"}}, {}, {}};
  add_difference_columns(table);
  table.columns.insert(table.columns.end(),
                       {{"verdict", "verdict"}, {"worst parameter", "worst_parameter"}});
  const bool curves = comparison.settings.steps > 1;
  if (curves) table.columns.push_back({"loss curves apart", "losses.max_relative", true});
  for (const auto& pair : comparison.pairs) {
    std::vector<Cell> row{std::string(name(pair.a)), std::string(name(pair.b))};
    add_difference(row, pair.gradient, pair.flips);
    row.push_back(text(pair.verdict, pair.flips));
    row.push_back(worst(pair.gradient));
    if (curves) row.push_back(Real{pair.losses.max_relative});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table reference_table(const Comparison& comparison) {
  Table table{"against f64", {{"mode", "mode"}, {"f64 run", "reference_mode"}}, {}, {}};
  add_difference_columns(table);
  table.columns.push_back({"worst parameter", "worst_parameter"});
  for (const auto& entry : comparison.against_f64) {
    std::vector<Cell> row{std::string(name(entry.mode)), std::string(name(entry.reference_mode))};
    add_difference(row, entry.gradient, entry.flips);
    row.push_back(worst(entry.gradient));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace arenagrad::cli
