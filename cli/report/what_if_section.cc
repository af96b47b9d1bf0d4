#include <fmt/format.h>

#include <map>

#include "allocator/units.h"
#include "cli/report/html.h"
#include "cli/report/section.h"

namespace arenagrad::cli {
namespace {

std::string sum_text(const Json& categories) {
  std::int64_t total = 0;
  for (const auto& [name, value] : categories.items()) total += value.get<std::int64_t>();
  return with_commas(total);
}

void add_rows(Table& table, const Json& json) {
  const auto& optimizer = json.at("optimizer_settings");
  auto update = optimizer.at("kind").get<std::string>();
  if (const auto momentum = optimizer.value("momentum", 0.0); momentum != 0)
    update += fmt::format(", momentum {}", momentum);
  std::string image;
  for (const auto& point : json.at("points"))
    if (point.at("input").is_string()) image = point["input"].get<std::string>();
  for (const auto& [mode, d] : json.at("decomposition").items())
    for (const auto& piece : d.at("pieces"))
      table.rows.push_back({image, mode, json.at("policy").get<std::string>(), update,
                            fmt::format("{} to {}", piece.at("from").get<std::int64_t>(),
                                        piece.at("to").get<std::int64_t>()),
                            sum_text(piece.at("fixed")), sum_text(piece.at("per_sample")),
                            sum_text(piece.at("per_forward"))});
}

}  // namespace

std::vector<Section> what_if_sections(const std::vector<const ReportInput*>& sweeps) {
  if (sweeps.empty()) return {};
  Table table{
      "the peak, piece by piece: fixed + per sample x batch + per micro-batch x their number",
      {{"image", "image"},
       {"mode", "mode"},
       {"policy", "policy"},
       {"optimizer", "optimizer"},
       {"batch", "batch"},
       {"fixed", "fixed", true},
       {"per sample", "per_sample", true},
       {"per micro-batch", "per_forward", true}},
      {},
      {}};
  std::map<std::string, std::string> refused;
  for (const auto* sweep : sweeps) {
    add_rows(table, sweep->json);
    if (sweep->json.contains("refused"))
      for (const auto& [mode, why] : sweep->json["refused"].items())
        refused[mode] = why.get<std::string>();
  }
  std::string without;
  for (const auto& [mode, why] : refused)
    without += fmt::format("<p>Without {}: {}.</p>\n", escaped(mode), escaped(why));
  return {{"what-if", "What if?",
           "<p>What would another setting take? Formulas from sweeps, evaluated in whole "
           "numbers.</p>\n<div class=\"picture\" data-picture=\"what-if\"></div>\n" +
               without + folded("the formulas as a table", render_html(table))}};
}

}  // namespace arenagrad::cli
