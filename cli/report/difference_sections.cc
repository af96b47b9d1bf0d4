#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>

#include "allocator/units.h"
#include "cli/report/difference.h"
#include "cli/report/difference_reasons.h"
#include "cli/report/html.h"
#include "cli/report/section.h"

namespace arenagrad::cli {
namespace {

std::vector<Cell> row(std::vector<Cell> begin, const Pair& pair) {
  begin.push_back(Bytes{pair.bytes[0]});
  begin.push_back(Bytes{pair.bytes[1]});
  begin.push_back(difference_cell(pair));
  return begin;
}

const Column kSides[] = {{"A", "a", true}, {"B", "b", true}, {"B - A", "difference", true}};

CategoryBytes at_peak(const ReportInput& input) {
  CategoryBytes bytes{};
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    bytes[c] = input.json.at("bytes")
                   .at("by_category_at_peak")
                   .at(std::string(kCategoryNames[c]))
                   .get<std::size_t>();
  return bytes;
}

Table categories_table(const Categories& pairs, const std::vector<Reason>& why) {
  Table table{"the peaks, by category", {{"category", "category"}}, {}, {}};
  table.columns.insert(table.columns.end(), std::begin(kSides), std::end(kSides));
  table.columns.push_back({"because of", "because"});
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    if (pairs[c].bytes[0] + pairs[c].bytes[1] == 0) continue;
    auto cells = row({std::string(kCategoryNames[c])}, pairs[c]);
    cells.push_back(pairs[c].difference() == 0 ? std::string() : causes(why, c));
    table.rows.push_back(std::move(cells));
  }
  table.totals.push_back(row({"total"}, sum(pairs)));
  table.totals.back().push_back(std::string());
  return table;
}

using What = std::tuple<std::string, std::string, std::string>;  // name, category, layer

std::map<What, Pair> buffers_at_peaks(const ReportInput* inputs[2]) {
  std::map<What, Pair> pairs;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& timeline = *inputs[i]->timeline;
    for (const auto& event : live_after(timeline, peak_event(live_totals(timeline)))) {
      const auto& kind = timeline.kinds[event.kind];
      auto& pair =
          pairs[{kind.name, std::string(name(kind.category)),
                 kind.layer < 0 ? "" : timeline.layers[static_cast<std::size_t>(kind.layer)]}];
      pair.bytes[i] += kind.bytes;
      ++pair.buffers[i];
    }
  }
  return pairs;
}

/// Buffer by buffer; the rows add up to the difference of the peaks.
Table buffers_table(const std::map<What, Pair>& pairs) {
  constexpr std::size_t kRows = 100;
  std::vector<std::pair<What, Pair>> rows;
  Pair same, total;
  for (const auto& [what, pair] : pairs) {
    for (std::size_t i = 0; i < 2; ++i) total.bytes[i] += pair.bytes[i];
    if (pair.difference() != 0) {
      rows.emplace_back(what, pair);
    } else {
      for (std::size_t i = 0; i < 2; ++i) same.bytes[i] += pair.bytes[i];
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::llabs(a.second.difference()) > std::llabs(b.second.difference());
  });
  Table table{"what makes the difference",
              {{"buffer", "buffer"},
               {"category", "category"},
               {"layer", "layer"},
               {"live in A", "buffers_a", true},
               {"in B", "buffers_b", true}},
              {},
              {}};
  table.columns.insert(table.columns.end(), std::begin(kSides), std::end(kSides));
  const auto buffers = [](std::size_t n) { return Count{static_cast<std::int64_t>(n)}; };
  Pair others;
  for (const auto& [what, pair] : rows) {
    if (table.rows.size() < kRows) {
      const auto& [name, category, layer] = what;
      table.rows.push_back(
          row({name, category, layer, buffers(pair.buffers[0]), buffers(pair.buffers[1])}, pair));
    } else {
      for (std::size_t i = 0; i < 2; ++i) others.bytes[i] += pair.bytes[i];
    }
  }
  if (rows.size() > kRows)
    table.totals.push_back(
        row({fmt::format("{} others", rows.size() - kRows), {}, {}, {}, {}}, others));
  table.totals.push_back(row({"equal in both", {}, {}, {}, {}}, same));
  table.totals.push_back(row({"total", {}, {}, {}, {}}, total));
  return table;
}

/// Settings in which the two differ, of those that both name.
Table settings_table(const ReportInput* inputs[2]) {
  Table table{"settings that differ", {{"setting", "setting"}, {"A", "a"}, {"B", "b"}}, {}, {}};
  for (const char* key : {"name", "backend", "device", "workspace_included", "dtype", "mode",
                          "policy", "recompute", "strategy", "optimizer_settings", "batch",
                          "micro_batch", "run", "steps", "capacity", "layout"}) {
    std::optional<std::string> values[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& json = inputs[i]->json;
      const auto& holder = json.contains(key) || !did_not_fit(*inputs[i]) ? json : json.at("error");
      if (!holder.contains(key)) continue;
      const auto& value = holder[key];
      values[i] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (values[0] && values[1] && *values[0] != *values[1])
      table.rows.push_back({std::string(key), *values[0], *values[1]});
  }
  return table;
}

std::string explained(const Categories& pairs, const std::vector<Reason>& why) {
  const auto total = sum(pairs);
  std::string text =
      total.difference() == 0
          ? fmt::format("Both peak at {}", exact_bytes(total.bytes[0]))
          : fmt::format("A peaks at {}, B at {}: {}", exact_bytes(total.bytes[0]),
                        exact_bytes(total.bytes[1]), difference_text(total.difference()));
  std::string list;
  for (const auto c : differing(pairs)) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", kCategoryNames[c],
                        difference_text(pairs[c].difference()));
  }
  text = "<p>" + escaped(text + (list.empty() ? "." : ", made of " + list + ".")) + "</p>\n";
  std::string items;
  for (const auto& reason : why)
    items += fmt::format("<li>{}: {}</li>\n", escaped(reason.cause), escaped(reason.text));
  return text + (items.empty() ? "" : "<ul class=\"why\">\n" + items + "</ul>\n");
}

/// Why there is no peak to explain, and what is known all the same: a lower bound is the peak of
/// the whole run, so that both can be held against each other even so.
std::string without_peaks(const ReportInput* inputs[2]) {
  std::string text;
  std::optional<std::size_t> peaks[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& json = inputs[i]->json;
    if (!did_not_fit(*inputs[i])) {
      peaks[i] = json.at("bytes").at("peak_requested").get<std::size_t>();
      continue;
    }
    const auto& error = json.at("error");
    if (error.contains("lower_bound") && error["lower_bound"].is_number())
      peaks[i] = error["lower_bound"].get<std::size_t>();
    text += fmt::format("<p>{} did not fit: {}</p>\n", "AB"[i],
                        escaped(error.at("message").get<std::string>()));
  }
  text +=
      "<p>A run that stopped has no peak whose bytes could be compared by category, nor reasons "
      "for them. What can be compared follows.</p>\n";
  if (!peaks[0] || !peaks[1]) return text;
  const auto peak = [&](std::size_t i) {
    const auto bytes = exact_bytes(*peaks[i]);
    return did_not_fit(*inputs[i])
               ? fmt::format("{} would peak at {} without a limit", "AB"[i], bytes)
               : fmt::format("{} peaks at {}", "AB"[i], bytes);
  };
  const Pair pair{{*peaks[0], *peaks[1]}, {}};
  return text + "<p>" +
         escaped(fmt::format(
             "{}; {}: {}.", peak(0), peak(1),
             pair.difference() == 0 ? "the same" : difference_text(pair.difference()))) +
         "</p>\n";
}

}  // namespace

std::vector<Section> difference_sections(const ReportInput& a, const ReportInput& b) {
  const ReportInput* inputs[2] = {&a, &b};
  const bool events =
      a.timeline && b.timeline && !a.timeline->events.empty() && !b.timeline->events.empty();
  Section section{"difference", "Two runs", {}};
  section.html = fmt::format("<p>A is {}; B is {}.</p>\n", escaped(a.title), escaped(b.title));
  if (did_not_fit(a) || did_not_fit(b)) {
    section.html += without_peaks(inputs);
    if (events)
      section.html += "<p>Phases and levels are those that were reached.</p>\n" + over_phases(a, b);
    section.html += render_html(settings_table(inputs));
    return {section};
  }
  const auto pairs = paired(at_peak(a), at_peak(b));
  const auto why = reasons(a, b);
  section.html += explained(pairs, why);
  if (events) section.html += over_phases(a, b);
  section.html += render_html(categories_table(pairs, why));
  if (events) section.html += render_html(buffers_table(buffers_at_peaks(inputs)));
  section.html += render_html(settings_table(inputs));
  return {section};
}

}  // namespace arenagrad::cli
