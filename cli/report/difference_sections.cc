#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "allocator/units.h"
#include "cli/report/difference_reasons.h"
#include "cli/report/html.h"
#include "cli/report/phase_axis.h"
#include "cli/report/section.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

/// What one thing takes in the one run and in the other.
struct Pair {
  std::array<std::size_t, 2> bytes{}, buffers{};
  std::int64_t difference() const {
    return static_cast<std::int64_t>(bytes[1]) - static_cast<std::int64_t>(bytes[0]);
  }
};

/// "+1.50 KiB (1,536 B)".
std::string difference_text(std::int64_t difference) {
  return (difference < 0 ? "-" : "+") +
         exact_bytes(static_cast<std::size_t>(std::llabs(difference)));
}

Cell difference_cell(const Pair& pair) {
  return pair.difference() == 0 ? std::string("0 B") : difference_text(pair.difference());
}

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

using Categories = std::array<Pair, kCategoryCount>;

Categories paired(const CategoryBytes& a, const CategoryBytes& b) {
  Categories pairs;
  for (std::size_t c = 0; c < kCategoryCount; ++c) pairs[c].bytes = {a[c], b[c]};
  return pairs;
}

Pair sum(const Categories& pairs) {
  Pair total;
  for (const auto& pair : pairs)
    for (std::size_t i = 0; i < 2; ++i) total.bytes[i] += pair.bytes[i];
  return total;
}

/// Categories whose bytes differ, the largest difference first.
std::vector<std::size_t> differing(const Categories& pairs) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (pairs[c].difference() != 0) order.push_back(c);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::llabs(pairs[a].difference()) > std::llabs(pairs[b].difference());
  });
  return order;
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

/// Settings in which the two differ.
Table settings_table(const ReportInput* inputs[2]) {
  Table table{"settings that differ", {{"setting", "setting"}, {"A", "a"}, {"B", "b"}}, {}, {}};
  for (const char* key :
       {"name", "backend", "device", "workspace_included", "dtype", "mode", "policy", "recompute",
        "strategy", "optimizer_settings", "batch", "micro_batch", "run", "steps", "capacity"}) {
    std::string values[2];
    for (std::size_t i = 0; i < 2; ++i) {
      if (!inputs[i]->json.contains(key)) continue;
      const auto& value = inputs[i]->json[key];
      values[i] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (values[0] != values[1]) table.rows.push_back({std::string(key), values[0], values[1]});
  }
  return table;
}

/// A run along the axis, in steps that are the highest of a column; broken where it has no step.
Curve curve_of(const PhaseAxis& axis, std::size_t run, const std::vector<std::size_t>& totals) {
  constexpr double kColumns = 480;
  Curve curve;
  const auto level = [&](std::size_t event) { return static_cast<double>(totals[event - 1]); };
  const auto add = [&](double from, double to, double value) {
    curve.points.emplace_back(from, value);
    curve.points.emplace_back(to, value);
  };
  for (std::size_t s = 0; s < axis.slots.size(); ++s) {
    const auto& slot = axis.slots[s];
    const auto& [events, held] = axis.stretches[run][s];
    const double width = slot.end - slot.begin;
    if (events.empty()) {
      add(slot.begin, slot.end, held > 0 ? level(held) : std::nan(""));
      continue;
    }
    const auto wanted = static_cast<std::size_t>(kColumns * width / axis.slots.back().end);
    const auto columns = std::min(std::max<std::size_t>(wanted, 1), events.size());
    for (std::size_t c = 0; c < columns; ++c) {
      double most = 0;
      for (std::size_t i = events.size() * c / columns; i < events.size() * (c + 1) / columns; ++i)
        most = std::max(most, level(events[i]));
      const auto place = [&](std::size_t at) {
        return slot.begin + width * static_cast<double>(at) / static_cast<double>(columns);
      };
      add(place(c), place(c + 1), most);
    }
  }
  return curve;
}

/// The highest point of a phase in one run, and what is live there.
struct Highest {
  std::size_t event = 0;  // 0: the run has no such step
  CategoryBytes bytes{};
};

/// By slot.
std::vector<Highest> highest_of(const PhaseAxis& axis, std::size_t run, const Timeline& timeline,
                                const std::vector<std::size_t>& totals) {
  std::vector<Highest> all;
  std::vector<std::size_t> wanted;
  for (const auto& [events, held] : axis.stretches[run]) {
    const auto top = std::max_element(events.begin(), events.end(), [&](auto a, auto b) {
      return totals[a - 1] < totals[b - 1];
    });
    all.push_back({top == events.end() ? held : *top, {}});
    wanted.push_back(all.back().event);
  }
  const auto bytes = compositions(timeline, wanted);
  for (std::size_t s = 0; s < all.size(); ++s) all[s].bytes = bytes[s];
  return all;
}

/// "activation -1.50 KiB (1,536 B)"; empty where nothing differs.
std::string most_of(const Categories& pairs) {
  const auto order = differing(pairs);
  if (order.empty()) return "";
  return fmt::format("{} {}", kCategoryNames[order.front()],
                     difference_text(pairs[order.front()].difference()));
}

/// Each phase at its highest, in both runs.
Table phases_table(const PhaseAxis& axis, const std::vector<Highest> (&highest)[2]) {
  constexpr std::size_t kRows = 200;
  Table table{"the two runs, phase by phase", {{"phase", "phase"}}, {}, {}};
  for (const char* column :
       {"A highest", "at A's event", "B highest", "at B's event", "B - A", "most of it"})
    table.columns.push_back({column, column, std::string(column) != "most of it"});
  for (std::size_t s = 0; s < axis.slots.size() && s < kRows; ++s) {
    std::vector<Cell> cells{axis.slots[s].label()};
    const auto pairs = paired(highest[0][s].bytes, highest[1][s].bytes);
    const auto total = sum(pairs);
    const bool both = highest[0][s].event > 0 && highest[1][s].event > 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto event = highest[i][s].event;
      cells.push_back(event > 0 ? Cell{Bytes{total.bytes[i]}} : Cell{});
      cells.push_back(event > 0 ? Cell{Count{static_cast<std::int64_t>(event)}} : Cell{});
    }
    cells.push_back(both ? difference_cell(total) : Cell{});
    cells.push_back(both ? Cell{most_of(pairs)} : Cell{});
    table.rows.push_back(std::move(cells));
  }
  if (axis.slots.size() > kRows)
    table.title += fmt::format(" (the first {} of {})", kRows, with_commas(axis.slots.size()));
  return table;
}

/// Still and live, and the table behind them.
std::string over_phases(const ReportInput* inputs[2]) {
  const auto axis = phase_axis(*inputs[0]->timeline, *inputs[1]->timeline);
  std::vector<Curve> curves;
  std::vector<Highest> highest[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& timeline = *inputs[i]->timeline;
    const auto totals = live_totals(timeline);
    curves.push_back(curve_of(axis, i, totals));
    curves.back().label = fmt::format("{}: {}", "AB"[i], inputs[i] -> title);
    curves.back().colour = i;
    highest[i] = highest_of(axis, i, timeline, totals);
  }
  std::vector<AxisPart> parts;
  Json slots = Json::array();
  for (const auto& slot : axis.slots) {
    parts.push_back({slot.begin, slot.end, slot.step, slot.phase});
    slots.push_back({slot.step, slot.phase, slot.begin, slot.end});
  }
  return fmt::format(
             "<p>Each phase has the same place for both runs and is stretched to it, whatever the "
             "number of its events. Where a run takes turns within a step, its forwards follow "
             "each other, and so do its backwards.</p>\n"
             "<div class=\"picture\" data-picture=\"two\">\n{}"
             "<script type=\"application/json\" class=\"slots\">{}</script>\n</div>\n",
             curve_chart(curves, parts, "both runs, phase by phase"), script_data(slots)) +
         render_html(phases_table(axis, highest));
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

}  // namespace

std::vector<Section> difference_sections(const ReportInput& a, const ReportInput& b) {
  const ReportInput* inputs[2] = {&a, &b};
  for (const auto* input : inputs)
    if (!input->json.contains("bytes") || (input->verb != "plan" && input->verb != "run"))
      return {};
  const bool events = a.timeline && b.timeline;
  const auto pairs = paired(at_peak(a), at_peak(b));
  const auto why = reasons(a, b);
  Section section{"difference", "Two runs", {}};
  section.html = fmt::format("<p>A is {}; B is {}.</p>\n", escaped(a.title), escaped(b.title)) +
                 explained(pairs, why);
  if (events) section.html += over_phases(inputs);
  section.html += render_html(categories_table(pairs, why));
  if (events) section.html += render_html(buffers_table(buffers_at_peaks(inputs)));
  section.html += render_html(settings_table(inputs));
  return {section};
}

}  // namespace arenagrad::cli
