#include <fmt/format.h>

#include "cli/report/html.h"
#include "cli/report/section.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

CategoryBytes categories(const Json& json) {
  CategoryBytes bytes{};
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    bytes[c] = json.at(std::string(kCategoryNames[c])).get<std::size_t>();
  return bytes;
}

Cell bytes_cell(const Json& value) {
  if (value.is_null()) return {};
  return Bytes{value.get<std::size_t>()};
}

std::string spaced(std::string key) {
  for (auto& c : key)
    if (c == '_') c = ' ';
  return key;
}

Table bytes_table(const Json& bytes) {
  auto table = Table::of_quantities("bytes");
  for (const auto& [key, value] : bytes.items())
    if (!value.is_object()) table.add(spaced(key), key, bytes_cell(value));
  return table;
}

Table categories_table(const CategoryBytes& bytes) {
  Table table{"at the peak, by category",
              {{"category", "category"}, {"bytes", "bytes", true}, {"share", "share", true}},
              {},
              {}};
  std::size_t total = 0;
  for (const auto value : bytes) total += value;
  const auto share = [&](std::size_t value) {
    return Share{total == 0 ? 0 : static_cast<double>(value) / static_cast<double>(total)};
  };
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (bytes[c] > 0)
      table.rows.push_back({std::string(kCategoryNames[c]), Bytes{bytes[c]}, share(bytes[c])});
  table.totals.push_back({"total", Bytes{total}, share(total)});
  return table;
}

Table settings_table(const Json& json) {
  auto table = Table::of_quantities("settings");
  for (const char* key :
       {"name", "backend", "device", "dtype", "mode", "policy", "strategy", "optimizer", "batch",
        "micro_batch", "run", "steps", "capacity", "seed"}) {
    if (!json.contains(key) || json[key].is_null()) continue;
    const auto& value = json[key];
    table.add(spaced(key), key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return table;
}

}  // namespace

std::vector<Section> measurement_sections(const ReportInput& input, std::size_t index) {
  const auto& json = input.json;
  if ((input.verb != "plan" && input.verb != "run") || !json.contains("bytes")) return {};
  const auto bytes = categories(json.at("bytes").at("by_category_at_peak"));
  Section section{fmt::format("bytes-{}", index), "Where the bytes go", {}};
  section.html = legend(bytes) + bar_chart({{"at the peak", bytes}}, "the peak by category") +
                 render_html(categories_table(bytes)) + render_html(bytes_table(json.at("bytes"))) +
                 folded("settings", render_html(settings_table(json)));
  return {section};
}

std::vector<Section> summary_sections(const ReportInput& input, std::size_t index) {
  if (input.verb != "summary") return {};
  Table table{"layers",
              {{"layer", "name"},
               {"op", "op"},
               {"output", "output"},
               {"parameters", "parameters", true},
               {"multiply-adds", "multiply_adds", true},
               {"output bytes", "output_bytes", true},
               {"saved", "saved", true},
               {"workspace", "workspace", true}},
              {},
              {}};
  std::vector<Bar> bars;
  CategoryBytes seen{};
  for (const auto& row : input.json.at("layers")) {
    const auto count = [&](const char* key) { return Count{row.at(key).get<std::int64_t>()}; };
    std::string shape;
    for (const auto& dim : row.at("output")) shape += (shape.empty() ? "" : "x") + dim.dump();
    table.rows.push_back({row.at("name").get<std::string>(), row.at("op").get<std::string>(), shape,
                          count("parameters"), count("multiply_adds"), count("output_bytes"),
                          count("saved"), count("workspace")});
    Bar bar{row.at("name").get<std::string>(), {}};
    bar.bytes[static_cast<std::size_t>(Category::activation)] = row.at("saved").get<std::size_t>();
    bar.bytes[static_cast<std::size_t>(Category::workspace)] =
        row.at("workspace").get<std::size_t>();
    for (std::size_t c = 0; c < kCategoryCount; ++c) seen[c] += bar.bytes[c];
    if (bar.bytes != CategoryBytes{}) bars.push_back(std::move(bar));
  }
  Section section{fmt::format("summary-{}", index), "Layer by layer", {}};
  section.html = "<p>Saved for backward (as activation) and workspace.</p>\n" + legend(seen) +
                 bar_chart(bars, "saved bytes and workspace by layer") +
                 folded("the layers as a table", render_html(table));
  return {section};
}

std::vector<Section> compare_sections(const ReportInput& input, std::size_t index) {
  if (input.verb != "compare") return {};
  std::vector<Bar> bars;
  CategoryBytes seen{};
  Table table{"modes",
              {{"mode", "mode"},
               {"peak requested", "peak_requested", true},
               {"footprint", "footprint", true},
               {"saved", "saved", true},
               {"step", "step_median", true},
               {"loss", "loss", true},
               {"peak set by", "peak_at"}},
              {},
              {}};
  for (const auto& [mode, m] : input.json.at("modes").items()) {
    if (!m.contains("bytes")) {
      const auto& error = m.at("error");
      table.rows.push_back({mode, {}, {}, {}, {}, {}, error.is_null() ? "" : error.dump()});
      continue;
    }
    const auto& bytes = m.at("bytes");
    bars.push_back({mode, categories(bytes.at("by_category_at_peak"))});
    for (std::size_t c = 0; c < kCategoryCount; ++c) seen[c] += bars.back().bytes[c];
    const auto& seconds = m.at("seconds");
    const auto& loss = m.at("loss");
    const auto& at = m.at("peak_at");
    table.rows.push_back(
        {mode, bytes_cell(bytes.at("peak_requested")), bytes_cell(bytes.at("footprint")),
         bytes_cell(bytes.at("saved")),
         seconds.is_null() ? Cell{} : Cell{Duration{seconds.at("step_median").get<double>()}},
         loss.is_null() ? Cell{} : Cell{Real{loss.get<double>(), 9}},
         at.at("phase").get<std::string>() +
             (at.at("layer").is_null() ? "" : " of " + at.at("layer").get<std::string>())});
  }
  Table pairs{"gradients of the first step",
              {{"a", "a"}, {"b", "b"}, {"rel_l2", "rel_l2", true}, {"verdict", "verdict"}},
              {},
              {}};
  for (const auto& pair : input.json.at("pairs")) {
    const auto& distance = pair.at("rel_l2");
    pairs.rows.push_back({pair.at("a").get<std::string>(), pair.at("b").get<std::string>(),
                          distance.is_null() ? Cell{} : Cell{Real{distance.get<double>()}},
                          pair.at("verdict").get<std::string>()});
  }
  Section section{fmt::format("modes-{}", index), "Ways to the same gradient", {}};
  section.html = legend(seen) + bar_chart(bars, "the peak of each mode by category") +
                 render_html(table) + render_html(pairs);
  return {section};
}

}  // namespace arenagrad::cli
