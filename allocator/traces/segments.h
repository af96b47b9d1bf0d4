// The driver's calls as PyTorch's snapshots know them: memory is allocated in segments, or mapped
// piece by piece into a segment that grows.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/traces/interval_set.h"
#include "allocator/traces/trace.h"

namespace arenagrad {

class Segments {
 public:
  struct Segment {
    std::size_t begin, end;
    bool grows;
  };

  /// The snapshot's word for a driver call, nothing when it has none.
  std::optional<std::string_view> apply(const TraceEvent& event) {
    const std::size_t end = event.offset + event.bytes;
    switch (event.kind) {
      case TraceEvent::Kind::reserve: reserved_[event.offset] = end; return std::nullopt;
      case TraceEvent::Kind::release: reserved_.erase(event.offset); return std::nullopt;
      case TraceEvent::Kind::commit:
        // All of a range at once is a segment; the rest grows.
        if (const auto range = reserved_.find(event.offset);
            range != reserved_.end() && range->second == end) {
          whole_[event.offset] = end;
          return "segment_alloc";
        }
        grown_.add(event.offset, end);
        return "segment_map";
      // Memory seen from elsewhere is shown like memory: the viewer has no word for it.
      case TraceEvent::Kind::map: grown_.add(event.offset, end); return "segment_map";
      case TraceEvent::Kind::unmap: grown_.remove(event.offset, end); return "segment_unmap";
      case TraceEvent::Kind::decommit: return decommit(event.offset, end);
      default: return std::nullopt;
    }
  }

  bool empty() const { return whole_.empty() && grown_.intervals().empty(); }

  /// Whether one segment holds all of [begin, end).
  bool hold(std::size_t begin, std::size_t end) const {
    const auto next = whole_.upper_bound(begin);
    return (next != whole_.begin() && std::prev(next)->second >= end) || grown_.covers(begin, end);
  }

  /// Those there are, by address.
  std::vector<Segment> list() const {
    std::map<std::size_t, Segment> sorted;
    for (const auto& [begin, end] : whole_) sorted[begin] = {begin, end, false};
    for (const auto& [begin, end] : grown_.intervals()) sorted[begin] = {begin, end, true};
    std::vector<Segment> result;
    for (const auto& [begin, segment] : sorted) result.push_back(segment);
    return result;
  }

 private:
  std::string_view decommit(std::size_t begin, std::size_t end) {
    const auto next = whole_.upper_bound(begin);
    if (next != whole_.begin()) {
      const auto found = std::prev(next);
      if (found->first == begin && found->second == end) {
        whole_.erase(found);
        return "segment_free";
      }
      if (found->second >= end) {  // part of it: what is left counts as grown
        grown_.add(found->first, found->second);
        whole_.erase(found);
      }
    }
    grown_.remove(begin, end);
    return "segment_unmap";
  }

  std::map<std::size_t, std::size_t> reserved_, whole_;  // begin to end
  IntervalSet grown_;
};

}  // namespace arenagrad
