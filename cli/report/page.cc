#include "cli/report/page.h"

#include <fmt/format.h>

#include "allocator/error.h"
#include "cli/report/assets.h"
#include "cli/report/html.h"

namespace arenagrad::cli {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

std::vector<Section> sections_of(const ReportInput& input, std::size_t index) try {
  std::vector<Section> all;
  for (const auto make : {timeline_sections, measurement_sections, compare_sections, sweep_sections,
                          summary_sections})
    for (auto& section : make(input, index)) all.push_back(std::move(section));
  if (all.empty())
    throw Error(fmt::format(
        "{}: expected JSON of plan, run, compare, sweep or summary, got {}{}", input.path,
        input.verb,
        input.json.contains("error") ? " of a run that did not fit, without --events" : ""));
  return all;
} catch (const Json::exception& error) {
  throw Error(fmt::format("{}: expected the JSON of {}, got one that lacks something: {}",
                          input.path, input.verb, error.what()));
}

std::string rendered(const Section& section) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h3 "
      "id=\"{0}-title\">{1}</h3>\n{2}</section>\n",
      section.id, escaped(section.title), section.html);
}

std::string body(const std::vector<ReportInput>& inputs, const std::vector<ReportInput>& what_if) {
  std::string html, contents;
  const auto add = [&](const Section& section) {
    html += rendered(section);
    contents +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title));
  };
  std::vector<const ReportInput*> runs;
  for (const auto& input : inputs)
    if (input.verb == "plan" || input.verb == "run") runs.push_back(&input);
  if (runs.size() == 2)
    for (const auto& section : difference_sections(*runs[0], *runs[1])) add(section);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& input = inputs[i];
    const auto title = input.title + (runs.size() == 2 && &input == runs[0]   ? " (A)"
                                      : runs.size() == 2 && &input == runs[1] ? " (B)"
                                                                              : "");
    html += fmt::format("<h2>{}: {}</h2>\n<p>{}</p>\n", escaped(input.verb), escaped(title),
                        escaped(input.json.value("answer", "")));
    for (const auto& section : sections_of(input, i)) add(section);
  }
  std::vector<const ReportInput*> sweeps;
  for (const auto* documents : {&inputs, &what_if})
    for (const auto& input : *documents)
      if (input.verb == "sweep") sweeps.push_back(&input);
  for (const auto& section : what_if_sections(sweeps)) add(section);
  return "<nav aria-label=\"contents\"><ul>\n" + contents + "</ul></nav>\n<main>\n" + html +
         "</main>\n";
}

}  // namespace

std::string report_page(const std::vector<ReportInput>& inputs,
                        const std::vector<ReportInput>& what_if) {
  std::string title, data;
  for (const auto& input : inputs) title += (title.empty() ? "" : " and ") + input.title;
  for (const auto* documents : {&inputs, &what_if})
    for (const auto& input : *documents)
      data += fmt::format("<script type=\"application/json\" class=\"document\">{}</script>\n",
                          script_data(input.json));
  const auto content = body(inputs, what_if);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n",
      kPolicy, escaped(title));
  page += kDygraphsStyle;
  page += kPageStyle;
  page += "</style>\n</head>\n<body>\n<h1>" + escaped(title) + "</h1>\n" + content;
  page += "<footer><details><summary>licence of dygraphs, which draws the pictures</summary><pre>";
  page += escaped(kDygraphsLicence);
  page += "</pre></details></footer>\n" + data + "<script>\n";
  page += kDygraphsScript;
  page += "</script>\n<script>\n\"use strict\";\n(() => {\n";
  page += kPageScript;
  page += "})();\n</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace arenagrad::cli
