#include "cli/report/page.h"

#include <fmt/format.h>

#include "allocator/error.h"
#include "cli/report/assets.h"
#include "cli/report/html.h"

namespace arenagrad::cli {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

bool is_run(const ReportInput& input) { return input.verb == "plan" || input.verb == "run"; }

std::string lacking(const std::string& path, const std::string& verb, const std::string& what) {
  return fmt::format("{}: expected the JSON of {}, got one that lacks something: {}", path, verb,
                     what);
}

std::vector<Section> sections_of(const ReportInput& input, std::size_t index) try {
  std::vector<Section> all;
  if (is_run(input) && !did_not_fit(input) && !input.json.contains("bytes"))
    throw Error(lacking(input.path, input.verb, "key 'bytes'"));
  for (const auto make : {timeline_sections, measurement_sections, compare_sections, sweep_sections,
                          frontier_sections, summary_sections})
    for (auto& section : make(input, index)) all.push_back(std::move(section));
  if (all.empty())
    throw Error(fmt::format(
        "{}: expected JSON of plan, run, compare, sweep or summary, or of fit --frontier, got {}{}",
        input.path, input.verb,
        input.verb == "fit"  ? " without ways to recompute"
        : did_not_fit(input) ? " of a run that did not fit, without --events"
                             : ""));
  return all;
} catch (const Json::exception& error) {
  throw Error(lacking(input.path, input.verb, error.what()));
}

/// Behind each document's title, what tells its sections from those of others: of two runs A and B,
/// of several of one sort their number.
std::vector<std::string> marks_of(const std::vector<ReportInput>& inputs) {
  std::vector<std::string> marks;
  const auto alike = [](const ReportInput& a, const ReportInput& b) {
    return is_run(a) ? is_run(b) : a.verb == b.verb;
  };
  for (const auto& input : inputs) {
    std::size_t all = 0, before = 0;
    for (const auto& other : inputs) {
      if (!alike(input, other)) continue;
      ++all;
      before += &other < &input;
    }
    marks.push_back(all == 1                    ? ""
                    : all == 2 && is_run(input) ? fmt::format(" ({})", "AB"[before])
                                                : fmt::format(" ({})", before + 1));
  }
  return marks;
}

/// What several documents make together.
template <class Make>
std::vector<Section> together(const std::vector<const ReportInput*>& inputs, Make make) {
  try {
    return make();
  } catch (const Json::exception& error) {
    std::string paths;
    for (const auto* input : inputs) paths += (paths.empty() ? "" : ", ") + input->path;
    throw Error(lacking(paths, inputs.front()->verb, error.what()));
  }
}

std::string rendered(const Section& section) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h3 "
      "id=\"{0}-title\">{1}</h3>\n{2}</section>\n",
      section.id, escaped(section.title), section.html);
}

std::string body(const std::vector<ReportInput>& inputs, const std::vector<ReportInput>& what_if) {
  std::string html, contents;
  const auto add = [&](const Section& section, const std::string& mark) {
    html += rendered(section);
    contents +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title + mark));
  };
  std::vector<const ReportInput*> runs;
  std::vector<std::vector<Section>> own;  // of each document: whichever is at fault is named first
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_run(inputs[i])) runs.push_back(&inputs[i]);
    own.push_back(sections_of(inputs[i], i));
  }
  if (runs.size() == 2)
    for (const auto& section :
         together(runs, [&] { return difference_sections(*runs[0], *runs[1]); }))
      add(section, "");
  const auto marks = marks_of(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& input = inputs[i];
    html += fmt::format("<h2>{}: {}</h2>\n<p>{}</p>\n", escaped(input.verb),
                        escaped(input.title + marks[i]), escaped(input.json.value("answer", "")));
    for (const auto& section : own[i]) add(section, marks[i]);
  }
  std::vector<const ReportInput*> sweeps;
  for (const auto* documents : {&inputs, &what_if})
    for (const auto& input : *documents)
      if (input.verb == "sweep") sweeps.push_back(&input);
  for (const auto& section : together(sweeps, [&] { return what_if_sections(sweeps); }))
    add(section, "");
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
