#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "allocator/units.h"
#include "cli/report/difference.h"
#include "cli/report/html.h"
#include "cli/report/phase_axis.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

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

}  // namespace

std::string over_phases(const ReportInput& a, const ReportInput& b) {
  const ReportInput* inputs[2] = {&a, &b};
  const auto axis = phase_axis(*inputs[0]->timeline, *inputs[1]->timeline);
  std::vector<Curve> curves;
  std::vector<Highest> highest[2];
  std::vector<AxisPart> parts;
  Json slots = Json::array(), titles = Json::array();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& timeline = *inputs[i]->timeline;
    const auto totals = live_totals(timeline);
    curves.push_back(curve_of(axis, i, totals));
    curves.back().label = fmt::format("{}: {}", "AB"[i], inputs[i] -> title);
    titles.push_back(curves.back().label);
    curves.back().colour = i;
    highest[i] = highest_of(axis, i, timeline, totals);
  }
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
             curve_chart(curves, parts, "both runs, phase by phase"),
             script_data({{"titles", titles}, {"slots", slots}})) +
         render_html(phases_table(axis, highest));
}

}  // namespace arenagrad::cli
