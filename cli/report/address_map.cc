#include "cli/report/address_map.h"

#include <algorithm>

namespace arenagrad::cli {

AddressMap::AddressMap(const Timeline& timeline) {
  std::vector<AddressSpan> used;
  for (const auto& event : timeline.events)
    if (event.what == TimelineEvent::What::allocate && event.granted > 0)
      used.push_back({event.offset, event.offset + event.granted, 0});
  std::sort(used.begin(), used.end(), [](const AddressSpan& a, const AddressSpan& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::uint64_t covered = 0;
  for (const auto& span : used) {
    if (!spans_.empty() && span.from <= spans_.back().to) {
      const auto to = std::max(spans_.back().to, span.to);
      covered += to - spans_.back().to;
      spans_.back().to = to;
    } else {
      covered += span.to - span.from;
      spans_.push_back(span);
    }
  }
  // A gap keeps its size up to a twentieth of what is used; a longer one shrinks to a fiftieth.
  std::uint64_t at = 0, end = 0;
  for (auto& span : spans_) {
    const auto gap = span.from - end;
    at += gap > covered / 20 ? covered / 50 : gap;
    span.at = at;
    at += span.to - span.from;
    end = span.to;
  }
}

std::uint64_t AddressMap::place(std::uint64_t address) const {
  auto after = std::upper_bound(
      spans_.begin(), spans_.end(), address,
      [](std::uint64_t value, const AddressSpan& span) { return value < span.from; });
  if (after == spans_.begin()) return 0;
  --after;
  return after->at + (std::min(address, after->to) - after->from);
}

std::uint64_t AddressMap::top() const {
  return spans_.empty() ? 0 : spans_.back().at + (spans_.back().to - spans_.back().from);
}

}  // namespace arenagrad::cli
