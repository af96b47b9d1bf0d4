// Every event of a run, as `plan --events` and `run --events` put it into their JSON and as a
// report reads it back. docs/json.md has the format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/category.h"
#include "cli/output.h"

namespace arenagrad::cli {

/// What sort of a thing a buffer is: all buffers that differ in their micro-batch alone are one.
struct BufferKind {
  std::string name;  // without the micro-batch
  Category category{};
  std::string shape;  // "8x64x112x112 f32"
  std::size_t bytes = 0;
  std::int64_t layer = -1;  // that it belongs to, in Timeline::layers; -1: to none
  bool micro = false;       // there is one for each micro-batch
  friend bool operator==(const BufferKind&, const BufferKind&) = default;
};

/// What is at work.
struct TimelineScope {
  std::string phase;
  std::int64_t layer = -1;
  friend bool operator==(const TimelineScope&, const TimelineScope&) = default;
};

struct TimelineEvent {
  enum class What : std::uint8_t { allocate, free, reserve, release, commit, decommit, map, unmap };
  What what{};
  std::uint32_t scope = 0;
  std::int64_t step = 0;
  std::int64_t micro = -1;   // of the buffer
  std::uint32_t buffer = 0;  // allocate, free: what the program numbers it
  std::uint32_t kind = 0;    // likewise
  std::uint64_t offset = 0, granted = 0;
  friend bool operator==(const TimelineEvent&, const TimelineEvent&) = default;
};

/// Event e of a ledger, counted from 1, is events[e - 1].
struct Timeline {
  std::size_t alignment = 1;
  std::vector<std::string> layers;
  std::vector<TimelineScope> scopes;
  std::vector<BufferKind> kinds;
  std::vector<TimelineEvent> events;

  /// "conv1 output (micro-batch 3)".
  std::string name_of(const TimelineEvent& event) const;
};

Json to_json(const Timeline& timeline);
/// Throws Error for what is no timeline, or one that frees what isn't live.
Timeline read_timeline(const Json& json);

/// Live requested bytes after each event.
std::vector<std::size_t> live_totals(const Timeline& timeline);
/// The first event after which most is live, counted from 1; 0 where there is none.
std::size_t peak_event(const std::vector<std::size_t>& totals);
/// The allocations of what is live after event `event`, in the order they were made.
std::vector<TimelineEvent> live_after(const Timeline& timeline, std::size_t event);
/// Live bytes by category after each of these events, in any order; 0 is before the first.
std::vector<CategoryBytes> compositions(const Timeline& timeline,
                                        const std::vector<std::size_t>& events);
/// The bytes of allocations.
CategoryBytes by_category(const Timeline& timeline, const std::vector<TimelineEvent>& live);

}  // namespace arenagrad::cli
