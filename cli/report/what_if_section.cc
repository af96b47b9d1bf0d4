#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

/// A word or a number as text; empty where the document doesn't say.
std::string text_of(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return "";
  return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
}

/// What of the command line chose the engines, and with them scratch: no key has it.
std::string engines_of(const Json& json) {
  if (!json.contains("argv")) return "";
  std::string text;
  const auto& words = json["argv"];
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i].get<std::string>();
    const auto flag = word.substr(0, word.find('='));
    const bool alone = flag == "--allow-tf32" || flag == "--allow-nondeterministic";
    if (!alone && flag != "--workspace" && flag != "--engines-from" && flag != "--cudnn") continue;
    text += (text.empty() ? "" : " ") + word;
    if (!alone && flag == word && i + 1 < words.size()) text += " " + words[++i].get<std::string>();
  }
  return text;
}

/// What a sweep was made under and decides about its bytes, one value for each sweep.
struct Setting {
  std::string name;
  std::vector<std::string> values;
  bool same() const { return std::ranges::count(values, values.front()) == std::ssize(values); }
};

std::vector<Setting> settings_of(const std::vector<const ReportInput*>& sweeps) {
  std::vector<Setting> settings;
  const auto add = [&](const char* name, auto value) {
    Setting setting{name, {}};
    for (const auto* sweep : sweeps) setting.values.push_back(value(sweep->json));
    settings.push_back(std::move(setting));
  };
  add("model", [](const Json& json) { return text_of(json, "name"); });
  add("spec", [](const Json& json) {
    return json.contains("spec") ? text_of(json["spec"], "hash") : std::string();
  });
  for (const char* key : {"device", "layout", "dtype", "recompute", "run", "calibrate", "strategy"})
    add(key, [&](const Json& json) { return text_of(json, key); });
  add("workspace included", [](const Json& json) { return text_of(json, "workspace_included"); });
  add("engines", engines_of);
  add("steps", [](const Json& json) { return text_of(json, "steps"); });
  add("version", [](const Json& json) { return text_of(json, "version"); });
  return settings;
}

/// "recompute none, steps 2": what all have in common.
std::string common_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const auto& setting : settings)
    if (setting.same() && !setting.values.front().empty())
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", setting.name, setting.values.front());
  return text;
}

std::string update_of(const Json& json) {
  const auto& optimizer = json.at("optimizer_settings");
  auto update = optimizer.at("kind").get<std::string>();
  if (const auto momentum = optimizer.value("momentum", 0.0); momentum != 0)
    update += fmt::format(", momentum {}{}", momentum,
                          optimizer.value("nesterov", false) ? ", nesterov" : "");
  return update;
}

/// `before` are the cells of the settings that not all sweeps share.
void add_rows(Table& table, const Json& json, const std::vector<Cell>& before) {
  std::string image;
  for (const auto& point : json.at("points"))
    if (point.at("input").is_string()) image = point["input"].get<std::string>();
  for (const auto& [mode, d] : json.at("decomposition").items())
    for (const auto& piece : d.at("pieces")) {
      auto row = before;
      row.insert(row.end(), {image, mode, json.at("policy").get<std::string>(), update_of(json),
                             fmt::format("{} to {}", piece.at("from").get<std::int64_t>(),
                                         piece.at("to").get<std::int64_t>()),
                             sum_text(piece.at("fixed")), sum_text(piece.at("per_sample")),
                             sum_text(piece.at("per_forward"))});
      table.rows.push_back(std::move(row));
    }
}

}  // namespace

std::vector<Section> what_if_sections(const std::vector<const ReportInput*>& sweeps) {
  if (sweeps.empty()) return {};
  const auto settings = settings_of(sweeps);
  Table table{
      "the peak, piece by piece: fixed + per sample x batch + per micro-batch x their number",
      {},
      {},
      {}};
  Json made = Json::object();
  for (const auto& setting : settings) {
    made[setting.name] = setting.values;
    if (!setting.same()) table.columns.push_back({setting.name, setting.name});
  }
  table.columns.insert(table.columns.end(), {{"image", "image"},
                                             {"mode", "mode"},
                                             {"policy", "policy"},
                                             {"optimizer", "optimizer"},
                                             {"batch", "batch"},
                                             {"fixed", "fixed", true},
                                             {"per sample", "per_sample", true},
                                             {"per micro-batch", "per_forward", true}});
  std::map<std::string, std::string> refused;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    const auto& json = sweeps[i]->json;
    std::vector<Cell> before;
    for (const auto& setting : settings)
      if (!setting.same()) before.push_back(setting.values[i]);
    add_rows(table, json, before);
    if (json.contains("refused"))
      for (const auto& [mode, why] : json["refused"].items())
        refused[mode] = why.get<std::string>();
  }
  std::string without;
  for (const auto& [mode, why] : refused)
    without += fmt::format("<p>Without {}: {}.</p>\n", escaped(mode), escaped(why));
  return {{"what-if", "What if?",
           "<p>What would another setting take? Formulas from sweeps, evaluated in whole "
           "numbers. All were made under: " +
               escaped(common_text(settings)) +
               fmt::format(".</p>\n<div class=\"picture\" data-picture=\"what-if\">\n"
                           "<script type=\"application/json\" class=\"made\">{}</script>\n"
                           "</div>\n",
                           script_data(made)) +
               without + folded("the formulas as a table", render_html(table))}};
}

}  // namespace arenagrad::cli
