#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "allocator/units.h"
#include "cli/report/address_map.h"
#include "cli/report/html.h"
#include "cli/report/section.h"
#include "cli/report/svg.h"

namespace arenagrad::cli {
namespace {

using What = TimelineEvent::What;

constexpr std::size_t kColumns = 480;  // of a still picture
constexpr std::size_t kLives = 1500;   // rectangles of one
constexpr std::size_t kRows = 200;     // of a table

Count count(std::size_t value) { return Count{static_cast<std::int64_t>(value)}; }

std::string layer_name(const Timeline& timeline, std::int64_t layer) {
  return layer < 0 ? "" : timeline.layers[static_cast<std::size_t>(layer)];
}

/// "step 1, backward of conv2".
std::string place_of(const Timeline& timeline, const TimelineEvent& event) {
  const auto& scope = timeline.scopes[event.scope];
  auto text = event.step > 0 ? fmt::format("step {}, {}", event.step, scope.phase) : scope.phase;
  return scope.layer < 0 ? text : text + " of " + layer_name(timeline, scope.layer);
}

/// A live picture takes the place of what is inside.
std::string picture(const char* kind, std::size_t index, const std::string& still) {
  return fmt::format("<div class=\"picture\" data-picture=\"{}\" data-index=\"{}\">\n{}</div>\n",
                     kind, index, still);
}

/// In each column the composition at the event where the total is highest.
AreaChart area_of(const Timeline& timeline, const std::vector<std::size_t>& totals) {
  AreaChart chart;
  chart.end = static_cast<double>(totals.size() + 1);
  chart.x_title = "event";
  const std::size_t events = totals.size(), columns = std::min(events, kColumns);
  CategoryBytes now{};
  for (std::size_t i = 0, at = 0; i < columns; ++i) {
    const std::size_t end = events * (i + 1) / columns, begin = at;
    const auto highest = static_cast<std::size_t>(
        std::max_element(totals.begin() + static_cast<std::ptrdiff_t>(begin),
                         totals.begin() + static_cast<std::ptrdiff_t>(end)) -
        totals.begin());
    AreaColumn column{static_cast<double>(begin + 1), {}};
    for (; at < end; ++at) {
      const auto& event = timeline.events[at];
      if (event.what == What::allocate || event.what == What::free) {
        const auto& kind = timeline.kinds[event.kind];
        auto& bytes = now[static_cast<std::size_t>(kind.category)];
        event.what == What::allocate ? bytes += kind.bytes : bytes -= kind.bytes;
      }
      if (at == highest) column.bytes = now;
    }
    chart.columns.push_back(column);
  }
  return chart;
}

/// A row for each stretch of events in one phase.
Table phases_table(const Timeline& timeline, const std::vector<std::size_t>& totals) {
  Table table{"memory over time, by phase",
              {{"phase", "phase"},
               {"events", "events"},
               {"highest", "highest", true},
               {"at event", "at", true},
               {"set by", "by"},
               {"at its end", "end", true}},
              {},
              {}};
  std::size_t stretches = 0;
  for (std::size_t begin = 0; begin < totals.size(); ++stretches) {
    const auto& first = timeline.events[begin];
    const auto same = [&](const TimelineEvent& event) {
      return event.step == first.step &&
             timeline.scopes[event.scope].phase == timeline.scopes[first.scope].phase;
    };
    std::size_t end = begin, highest = begin;
    for (; end < totals.size() && same(timeline.events[end]); ++end)
      if (totals[end] > totals[highest]) highest = end;
    if (table.rows.size() < kRows) {
      const auto& event = timeline.events[highest];
      const auto phase = timeline.scopes[first.scope].phase;
      table.rows.push_back(
          {first.step > 0 ? fmt::format("step {}, {}", first.step, phase) : phase,
           fmt::format("{} to {}", with_commas(begin + 1), with_commas(end)),
           Bytes{totals[highest]}, count(highest + 1),
           event.what == What::allocate ? timeline.name_of(event) : place_of(timeline, event),
           Bytes{totals[end - 1]}});
    }
    begin = end;
  }
  if (stretches > kRows) table.title += fmt::format(" (the first {} of {})", kRows, stretches);
  return table;
}

Table live_table(const Timeline& timeline, std::vector<TimelineEvent> live, std::size_t event) {
  Table table{fmt::format("live at the peak, event {}", with_commas(event)),
              {{"buffer", "buffer"},
               {"shape", "shape"},
               {"category", "category"},
               {"layer", "layer"},
               {"bytes", "bytes", true},
               {"granted", "granted", true},
               {"offset", "offset", true}},
              {},
              {}};
  const auto bytes = [&](const TimelineEvent& e) { return timeline.kinds[e.kind].bytes; };
  std::stable_sort(live.begin(), live.end(), [&](const TimelineEvent& a, const TimelineEvent& b) {
    return bytes(a) > bytes(b);
  });
  std::size_t sum = 0, granted = 0;
  for (const auto& at : live) {
    const auto& kind = timeline.kinds[at.kind];
    sum += kind.bytes;
    granted += at.granted;
    if (table.rows.size() == kRows) continue;
    table.rows.push_back({timeline.name_of(at), kind.shape, std::string(name(kind.category)),
                          layer_name(timeline, kind.layer), Bytes{kind.bytes}, count(at.granted),
                          count(at.offset)});
  }
  if (live.size() > kRows)
    table.title += fmt::format(" (the largest {} of {})", kRows, live.size());
  table.totals.push_back({"total", {}, {}, {}, Bytes{sum}, count(granted), {}});
  return table;
}

Section over_time(const ReportInput& input, std::size_t index,
                  const std::vector<std::size_t>& totals, const std::vector<TimelineEvent>& live) {
  const auto& timeline = *input.timeline;
  const auto peak = peak_event(totals);
  auto chart = area_of(timeline, totals);
  CategoryBytes seen{};
  for (const auto& kind : timeline.kinds)
    seen[static_cast<std::size_t>(kind.category)] += kind.bytes;
  std::string text = "nothing was ever live";
  if (peak > 0) {
    const auto& event = timeline.events[peak - 1];
    chart.mark = static_cast<double>(peak);
    chart.mark_text = "peak " + exact_bytes(totals[peak - 1]);
    text = fmt::format("{} live at the peak, event {} of {}: {}, in {}",
                       exact_bytes(totals[peak - 1]), with_commas(peak), with_commas(totals.size()),
                       timeline.name_of(event), place_of(timeline, event));
  }
  Section section{fmt::format("time-{}", index), "Memory over time", {}};
  section.html = "<p>" + escaped(text) + ".</p>\n" + legend(seen) +
                 picture("timeline", index, area_chart(chart, "memory over time: " + text)) +
                 folded("the phases as a table", render_html(phases_table(timeline, totals))) +
                 folded("what is live at the peak", render_html(live_table(timeline, live, peak)));
  return section;
}

std::vector<Life> lives_of(const Timeline& timeline, const AddressMap& map) {
  const auto end = static_cast<double>(timeline.events.size() + 1);
  std::vector<Life> lives;
  std::map<std::uint32_t, std::size_t> open;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const auto& event = timeline.events[i];
    const auto now = static_cast<double>(i + 1);
    if (event.what == What::free) lives[open.at(event.buffer)].to = now;
    if (event.what != What::allocate) continue;
    open[event.buffer] = lives.size();
    const auto low = static_cast<double>(map.place(event.offset));
    lives.push_back({now, end, low, low + static_cast<double>(event.granted),
                     timeline.kinds[event.kind].category});
  }
  return lives;
}

Section addresses(const ReportInput& input, std::size_t index,
                  const std::vector<TimelineEvent>& live) {
  const auto& timeline = *input.timeline;
  const AddressMap map(timeline);
  auto lives = lives_of(timeline, map);
  const auto all = lives.size();
  const auto area = [](const Life& life) { return (life.to - life.from) * (life.high - life.low); };
  std::stable_sort(lives.begin(), lives.end(),
                   [&](const Life& a, const Life& b) { return area(a) > area(b); });
  if (lives.size() > kLives) lives.resize(kLives);
  Json spans = Json::array();
  for (const auto& span : map.spans()) spans.push_back({span.from, span.to, span.at});
  auto by_offset = live;
  std::sort(by_offset.begin(), by_offset.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) { return a.offset < b.offset; });
  Table table{"addresses at the peak",
              {{"offset", "offset", true},
               {"granted", "granted", true},
               {"hole below", "hole", true},
               {"buffer", "buffer"}},
              {},
              {}};
  std::uint64_t top = 0;
  for (const auto& event : by_offset) {
    if (table.rows.size() == kRows) break;
    table.rows.push_back({count(event.offset), count(event.granted),
                          count(event.offset > top ? event.offset - top : 0),
                          timeline.name_of(event)});
    top = std::max(top, event.offset + event.granted);
  }
  if (by_offset.size() > kRows)
    table.title += fmt::format(" (the lowest {} of {})", kRows, by_offset.size());
  Section section{fmt::format("addresses-{}", index), "Where buffers lie", {}};
  section.html =
      "<p>Each rectangle is a buffer: as wide as it lives, as high as its bytes. What is "
      "empty between them are holes. Stretches of addresses that nothing ever uses are "
      "cut short.</p>\n";
  const auto note = lives.size() == all
                        ? std::string()
                        : fmt::format("<p class=\"still-note\">The {} largest of {} buffers.</p>\n",
                                      lives.size(), with_commas(all));
  section.html +=
      picture("addresses", index,
              note +
                  life_chart(lives, static_cast<double>(timeline.events.size() + 1),
                             static_cast<double>(map.top()), "address over time") +
                  fmt::format("<script type=\"application/json\" class=\"spans\">{}</script>\n",
                              script_data(spans))) +
      folded("the addresses as a table", render_html(table));
  return section;
}

Section layers(const ReportInput& input, std::size_t index,
               const std::vector<TimelineEvent>& live) {
  constexpr std::size_t kBars = 30;
  const auto& timeline = *input.timeline;
  std::map<std::int64_t, CategoryBytes> by_layer;
  for (const auto& event : live) {
    const auto& kind = timeline.kinds[event.kind];
    by_layer[kind.layer][static_cast<std::size_t>(kind.category)] += kind.bytes;
  }
  std::vector<Bar> bars;
  for (const auto& [layer, bytes] : by_layer)
    bars.push_back({layer < 0 ? "none" : layer_name(timeline, layer), bytes});
  const auto total = [](const Bar& bar) {
    std::size_t sum = 0;
    for (const auto value : bar.bytes) sum += value;
    return sum;
  };
  Table table{"bytes live at the peak, by the layer they belong to", {{"layer", "layer"}}, {}, {}};
  for (const auto name : kCategoryNames)
    table.columns.push_back({std::string(name), std::string(name), true});
  table.columns.push_back({"total", "total", true});
  for (const auto& bar : bars) {
    std::vector<Cell> row{bar.label};
    for (const auto value : bar.bytes) row.push_back(count(value));
    row.push_back(count(total(bar)));
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(bars.begin(), bars.end(),
                   [&](const Bar& a, const Bar& b) { return total(a) > total(b); });
  if (bars.size() > kBars) {
    Bar others{fmt::format("{} others", bars.size() - kBars), {}};
    for (std::size_t i = kBars; i < bars.size(); ++i)
      for (std::size_t c = 0; c < kCategoryCount; ++c) others.bytes[c] += bars[i].bytes[c];
    bars.resize(kBars);
    bars.push_back(others);
  }
  Section section{fmt::format("layers-{}", index), "Which layers hold it", {}};
  section.html = legend(by_category(timeline, live)) + "<p class=\"when\">At the peak:</p>\n" +
                 picture("layers", index, bar_chart(bars, "bytes at the peak by layer")) +
                 folded("the layers as a table", render_html(table));
  return section;
}

}  // namespace

std::vector<Section> timeline_sections(const ReportInput& input, std::size_t index) {
  if (!input.timeline) return {};
  const auto totals = live_totals(*input.timeline);
  const auto live = live_after(*input.timeline, peak_event(totals));
  return {over_time(input, index, totals, live), addresses(input, index, live),
          layers(input, index, live)};
}

}  // namespace arenagrad::cli
