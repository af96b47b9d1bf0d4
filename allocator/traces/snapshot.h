// A PyTorch memory snapshot as plain values: what of its pickle says something about memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/traces/pickle.h"
#include "allocator/traces/trace.h"

namespace arenagrad {

struct SnapshotEvent {
  enum class Action : std::uint8_t {
    alloc,
    free_requested,
    free_completed,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    oom,
    other,  // nothing happens to memory
  };
  Action action{};
  std::size_t address = 0, bytes = 0, granted = 0;
  std::uint64_t time = 0;
  std::string_view category;
  PickleValue frames;
  PickleValue place;  // its dict, for messages
};

struct SnapshotBlock {
  std::size_t address = 0, bytes = 0, requested = 0;
  bool active = false;
  PickleValue place;
};

struct SnapshotSegment {
  std::size_t address = 0, bytes = 0;
  std::vector<SnapshotBlock> blocks;
};

struct SnapshotAnnotation {
  std::uint64_t time = 0;
  std::string_view name;
  bool start = false;
};

/// Texts are the tree's. All of one device.
struct Snapshot {
  bool ours = false;  // written by this program
  bool timed = true;  // times are more than the order of events
  std::string_view name;
  std::size_t alignment = 1;
  std::vector<SnapshotEvent> events;
  std::vector<SnapshotSegment> segments;
  std::vector<SnapshotAnnotation> annotations;  // by time
};

/// Of the device, or of the only one that has events. TraceError with the byte of the value that is
/// not as documented.
Snapshot read_snapshot(const PickleTree& tree, std::optional<int> device);

}  // namespace arenagrad
