#include "cli/report/timeline.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace arenagrad::cli {

using What = TimelineEvent::What;

std::string Timeline::name_of(const TimelineEvent& event) const {
  const auto& kind = kinds[event.kind];
  return kind.micro ? kind.name + " (micro-batch " + std::to_string(event.micro) + ")" : kind.name;
}

std::vector<std::size_t> live_totals(const Timeline& timeline) {
  std::vector<std::size_t> totals;
  totals.reserve(timeline.events.size());
  std::size_t live = 0;
  for (const auto& event : timeline.events) {
    if (event.what == What::allocate) live += timeline.kinds[event.kind].bytes;
    if (event.what == What::free) live -= timeline.kinds[event.kind].bytes;
    totals.push_back(live);
  }
  return totals;
}

std::size_t peak_event(const std::vector<std::size_t>& totals) {
  if (totals.empty()) return 0;
  return static_cast<std::size_t>(std::max_element(totals.begin(), totals.end()) - totals.begin()) +
         1;
}

std::vector<TimelineEvent> live_after(const Timeline& timeline, std::size_t event) {
  std::map<std::uint32_t, std::size_t> born;  // by buffer
  for (std::size_t i = 0; i < event; ++i) {
    const auto& at = timeline.events[i];
    if (at.what == What::allocate) born[at.buffer] = i;
    if (at.what == What::free) born.erase(at.buffer);
  }
  std::vector<std::size_t> order;
  for (const auto& [buffer, i] : born) order.push_back(i);
  std::sort(order.begin(), order.end());
  std::vector<TimelineEvent> live;
  for (const auto i : order) live.push_back(timeline.events[i]);
  return live;
}

std::vector<CategoryBytes> compositions(const Timeline& timeline,
                                        const std::vector<std::size_t>& events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return events[a] < events[b]; });
  std::vector<CategoryBytes> result(events.size());
  CategoryBytes now{};
  std::size_t at = 0;
  for (const auto i : order) {
    for (; at < events[i]; ++at) {
      const auto& event = timeline.events[at];
      if (event.what != What::allocate && event.what != What::free) continue;
      const auto& kind = timeline.kinds[event.kind];
      auto& bytes = now[static_cast<std::size_t>(kind.category)];
      event.what == What::allocate ? bytes += kind.bytes : bytes -= kind.bytes;
    }
    result[i] = now;
  }
  return result;
}

CategoryBytes by_category(const Timeline& timeline, const std::vector<TimelineEvent>& live) {
  CategoryBytes bytes{};
  for (const auto& event : live) {
    const auto& kind = timeline.kinds[event.kind];
    bytes[static_cast<std::size_t>(kind.category)] += kind.bytes;
  }
  return bytes;
}

}  // namespace arenagrad::cli
