#include <fmt/format.h>

#include <algorithm>

#include "allocator/units.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/verbs.h"
#include "experiments/model_list.h"

namespace arenagrad::cli {
namespace {

/// What fits a line; the whole text is in the JSON.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 64;
  if (text.size() <= kMost) return text;
  return text.substr(0, text.rfind(' ', kMost - 4)) + " ...";
}

}  // namespace

ExitCode models(const Flags& flags, const Console& console) {
  const auto rows = list_models();
  Document document;
  document.json = json_header("models", flags);
  document.json["models"] = Json::array();
  Table table{"models",
              {{"name", "name"},
               {"input", "input", true},
               {"classes", "classes", true},
               {"layers", "layers", true},
               {"parameters", "parameters", true},
               {"multiply-adds a sample", "multiply_adds", true},
               {"description", "description"}},
              {},
              {}};
  for (const auto& row : rows) {
    document.json["models"].push_back(to_json(row));
    table.rows.push_back({row.name, row.input.text(), Count{row.classes}, Count{row.layers},
                          Count{row.parameters}, Count{row.multiply_adds},
                          shortened(row.description)});
  }
  document.tables.push_back(std::move(table));
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const ModelRow& a, const ModelRow& b) { return a.parameters < b.parameters; });
  document.answer = rows.empty()
                        ? "No models were found."
                        : fmt::format("{} models, from {} with {} parameters to {} with {}.",
                                      rows.size(), least->name, with_commas(least->parameters),
                                      most->name, with_commas(most->parameters));
  document.json["answer"] = document.answer;
  emit(document, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
