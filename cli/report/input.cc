#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/parse.h"
#include "cli/report/section.h"

namespace arenagrad::cli {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) throw Error(path + ": expected a file of JSON, got none to read");
  return std::move(text).str();
}

std::string title_of(const Json& json) {
  std::string title = json.value("name", "");
  if (json.contains("batch")) title += fmt::format(", batch {}", json["batch"].get<std::int64_t>());
  for (const char* key : {"mode", "strategy"})
    if (json.contains(key)) title += ", " + json[key].get<std::string>();
  // What isn't as usual: two runs may differ in nothing else.
  constexpr std::pair<const char*, const char*> kUsual[] = {
      {"policy", "lean"}, {"recompute", "none"}, {"optimizer", "none"}, {"run", "train"}};
  for (const auto& [key, usual] : kUsual)
    if (json.contains(key) && json[key].is_string() && json[key] != usual)
      title += fmt::format(", {} {}", key, json[key].get<std::string>());
  return title;
}

/// Where reading went on as usual but for a file's name.
template <class Read>
auto naming(const std::string& path, Read read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw Error(path + ": expected JSON that a verb of this program wrote: " + error.what());
  } catch (const Error& error) {
    throw Error(path + ": " + error.what());
  }
}

}  // namespace

bool did_not_fit(const ReportInput& input) {
  return input.json.contains("error") && !input.json["error"].is_null();
}

ReportInput read_report_input(const std::string& path) {
  const auto text = contents(path);
  return naming(path, [&] {
    ReportInput input;
    input.path = path;
    input.json = Json::parse(text);
    const auto schema = input.json.is_object() ? input.json.value("schema", "") : "";
    constexpr std::string_view kBegin = "arenagrad.", kEnd = "/1";
    if (!schema.starts_with(kBegin) || !schema.ends_with(kEnd))
      throw Error(fmt::format("expected a schema such as arenagrad.run/1, got '{}'", schema));
    input.verb = schema.substr(kBegin.size(), schema.size() - kBegin.size() - kEnd.size());
    input.title = title_of(input.json);
    if (input.json.contains("timeline") && !input.json["timeline"].is_null())
      input.timeline = read_timeline(input.json["timeline"]);
    return input;
  });
}

}  // namespace arenagrad::cli
