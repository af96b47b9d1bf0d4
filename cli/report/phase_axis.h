// Two runs on one axis. Event numbers mean nothing across runs, as another gradient mode or a
// second forward makes another number of events; phases do: each phase of each step has a place of
// its own, the same for both runs, and what a run does in it is stretched to that place.
#pragma once

#include <string>
#include <vector>

#include "cli/report/timeline.h"

namespace arenagrad::cli {

struct PhaseSlot {
  std::int64_t step = 0;  // 0: outside of steps
  std::string phase;
  double begin = 0, end = 0;  // on the axis
  /// "setup"; "step 1, forward".
  std::string label() const;
};

/// What one run does in a slot. Where it takes turns, as per-step does with forwards and backwards,
/// all of one sort follow each other.
struct PhaseStretch {
  std::vector<std::size_t> events;  // ascending, counted from 1
  /// Where there is none: the event whose level holds, because the run is before or after it in the
  /// same step; 0 where it has no such step.
  std::size_t held = 0;
};

struct PhaseAxis {
  std::vector<PhaseSlot> slots;            // along the axis, which begins at 0
  std::vector<PhaseStretch> stretches[2];  // of each run, by slot
};

PhaseAxis phase_axis(const Timeline& a, const Timeline& b);

}  // namespace arenagrad::cli
