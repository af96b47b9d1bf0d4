#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "allocator/units.h"
#include "cli/report/html.h"
#include "cli/report/section.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

/// What one thing takes in the one run and in the other.
struct Pair {
  std::size_t bytes[2] = {0, 0};
  std::size_t buffers[2] = {0, 0};
  std::int64_t difference() const {
    return static_cast<std::int64_t>(bytes[1]) - static_cast<std::int64_t>(bytes[0]);
  }
};

/// "+1.50 KiB (1,536 B)".
std::string difference_text(std::int64_t difference) {
  return (difference < 0 ? "-" : "+") +
         exact_bytes(static_cast<std::size_t>(std::llabs(difference)));
}

std::vector<Cell> row(std::vector<Cell> begin, const Pair& pair) {
  begin.push_back(Bytes{pair.bytes[0]});
  begin.push_back(Bytes{pair.bytes[1]});
  begin.push_back(pair.difference() == 0 ? std::string("0 B") : difference_text(pair.difference()));
  return begin;
}

const Column kSides[] = {{"A", "a", true}, {"B", "b", true}, {"B - A", "difference", true}};

Table categories_table(const ReportInput* inputs[2], Pair& total) {
  Table table{"the peaks, by category", {{"category", "category"}}, {}, {}};
  table.columns.insert(table.columns.end(), std::begin(kSides), std::end(kSides));
  for (const auto category : kCategoryNames) {
    Pair pair;
    for (int i = 0; i < 2; ++i) {
      pair.bytes[i] = inputs[i]
                          ->json.at("bytes")
                          .at("by_category_at_peak")
                          .at(std::string(category))
                          .get<std::size_t>();
      total.bytes[i] += pair.bytes[i];
    }
    if (pair.bytes[0] + pair.bytes[1] > 0) table.rows.push_back(row({std::string(category)}, pair));
  }
  table.totals.push_back(row({"total"}, total));
  return table;
}

using What = std::tuple<std::string, std::string, std::string>;  // name, category, layer

std::map<What, Pair> at_peaks(const ReportInput* inputs[2]) {
  std::map<What, Pair> pairs;
  for (int i = 0; i < 2; ++i) {
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
    for (int i = 0; i < 2; ++i) total.bytes[i] += pair.bytes[i];
    if (pair.difference() != 0) {
      rows.emplace_back(what, pair);
    } else {
      for (int i = 0; i < 2; ++i) same.bytes[i] += pair.bytes[i];
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
      for (int i = 0; i < 2; ++i) others.bytes[i] += pair.bytes[i];
    }
  }
  if (rows.size() > kRows)
    table.totals.push_back(
        row({fmt::format("{} others", rows.size() - kRows), {}, {}, {}, {}}, others));
  table.totals.push_back(row({"equal in both", {}, {}, {}, {}}, same));
  table.totals.push_back(row({"total", {}, {}, {}, {}}, total));
  return table;
}

/// Settings in which the two differ.
Table settings_table(const ReportInput* inputs[2]) {
  Table table{"settings that differ", {{"setting", "setting"}, {"A", "a"}, {"B", "b"}}, {}, {}};
  for (const char* key : {"name", "backend", "device", "dtype", "mode", "policy", "strategy",
                          "optimizer", "batch", "micro_batch", "run", "steps", "capacity"}) {
    std::string values[2];
    for (int i = 0; i < 2; ++i) {
      if (!inputs[i]->json.contains(key)) continue;
      const auto& value = inputs[i]->json[key];
      values[i] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (values[0] != values[1]) table.rows.push_back({std::string(key), values[0], values[1]});
  }
  return table;
}

/// Both runs from their first to their last event.
std::vector<Curve> curves_of(const ReportInput* inputs[2]) {
  constexpr std::size_t kColumns = 480;
  std::vector<Curve> curves;
  for (int i = 0; i < 2; ++i) {
    const auto totals = live_totals(*inputs[i]->timeline);
    Curve curve{fmt::format("{}: {}", "AB"[i], inputs[i] -> title), i == 0 ? 0u : 1u, false, {}};
    const auto columns = std::min(kColumns, totals.size());
    for (std::size_t c = 0; c < columns; ++c) {
      const auto begin = totals.begin() + static_cast<std::ptrdiff_t>(totals.size() * c / columns);
      const auto end =
          totals.begin() + static_cast<std::ptrdiff_t>(totals.size() * (c + 1) / columns);
      curve.points.emplace_back(100.0 * static_cast<double>(c + 1) / static_cast<double>(columns),
                                static_cast<double>(*std::max_element(begin, end)));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string explained(const Pair& total, const std::map<What, Pair>& pairs) {
  std::string text =
      total.difference() == 0
          ? fmt::format("Both peak at {}", exact_bytes(total.bytes[0]))
          : fmt::format("A peaks at {}, B at {}: {}", exact_bytes(total.bytes[0]),
                        exact_bytes(total.bytes[1]), difference_text(total.difference()));
  std::map<std::string, std::int64_t> by_category;
  for (const auto& [what, pair] : pairs) by_category[std::get<1>(what)] += pair.difference();
  std::vector<std::pair<std::string, std::int64_t>> parts(by_category.begin(), by_category.end());
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::llabs(a.second) > std::llabs(b.second);
  });
  std::string list;
  for (const auto& [category, difference] : parts)
    if (difference != 0)
      list +=
          fmt::format("{}{} {}", list.empty() ? "" : ", ", category, difference_text(difference));
  return text + (list.empty() ? "." : ", made of " + list + ".");
}

}  // namespace

std::vector<Section> difference_sections(const ReportInput& a, const ReportInput& b) {
  const ReportInput* inputs[2] = {&a, &b};
  for (const auto* input : inputs)
    if (!input->json.contains("bytes") || (input->verb != "plan" && input->verb != "run"))
      return {};
  Pair total;
  auto categories = render_html(categories_table(inputs, total));
  const bool events = a.timeline && b.timeline;
  const auto pairs = events ? at_peaks(inputs) : std::map<What, Pair>{};
  Section section{"difference", "Two runs", {}};
  section.html = fmt::format("<p>A is {}; B is {}. {}</p>\n", escaped(a.title), escaped(b.title),
                             escaped(explained(total, pairs)));
  if (events)
    section.html += fmt::format(
        "<div class=\"picture\" data-picture=\"two\">\n{}</div>\n",
        curve_chart(curves_of(inputs), "share of the run's events, %", "both runs over time"));
  section.html += categories;
  if (events) section.html += render_html(buffers_table(pairs));
  section.html += render_html(settings_table(inputs));
  return {section};
}

}  // namespace arenagrad::cli
