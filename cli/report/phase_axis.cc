#include "cli/report/phase_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace arenagrad::cli {
namespace {

constexpr std::string_view kPhases[] = {"setup", "forward", "backward", "update", "teardown"};

/// In this order: before the steps, steps, after them.
using Key = std::tuple<std::int64_t, std::int64_t, std::size_t, std::string>;

Key key_of(const Timeline& timeline, const TimelineEvent& event) {
  const auto& phase = timeline.scopes[event.scope].phase;
  const auto rank = static_cast<std::size_t>(
      std::find(std::begin(kPhases), std::end(kPhases), phase) - std::begin(kPhases));
  return {event.step > 0 ? 1 : rank == 0 ? 0 : 2, event.step, rank, phase};
}

/// Forward and backward have more to show than what is around them.
double width_of(const std::string& phase) {
  return phase == "forward" || phase == "backward" ? 2 : 1;
}

using Stretches = std::map<Key, PhaseStretch>;

Stretches stretches_of(const Timeline& timeline) {
  Stretches stretches;
  PhaseStretch* last = nullptr;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const auto& event = timeline.events[i];
    if (i == 0 || event.scope != timeline.events[i - 1].scope ||
        event.step != timeline.events[i - 1].step)
      last = &stretches[key_of(timeline, event)];
    last->events.push_back(i + 1);
  }
  return stretches;
}

}  // namespace

std::string PhaseSlot::label() const {
  return step > 0 ? fmt::format("step {}, {}", step, phase) : phase;
}

PhaseAxis phase_axis(const Timeline& a, const Timeline& b) {
  Stretches runs[] = {stretches_of(a), stretches_of(b)};
  PhaseAxis axis;
  Stretches all;
  for (const auto& run : runs)
    for (const auto& [key, stretch] : run) all[key];
  for (const auto& [key, nothing] : all) {
    const auto& [part, step, rank, phase] = key;
    const double begin = axis.slots.empty() ? 0 : axis.slots.back().end;
    axis.slots.push_back({step, phase, begin, begin + width_of(phase)});
  }
  for (int i = 0; i < 2; ++i) {
    std::set<std::int64_t> steps;
    for (const auto& [key, stretch] : runs[i]) steps.insert(std::get<1>(key));
    std::size_t reached = 0;
    for (const auto& [key, nothing] : all) {
      auto& stretch = runs[i][key];
      if (stretch.events.empty() && steps.contains(std::get<1>(key))) stretch.held = reached;
      if (!stretch.events.empty()) reached = std::max(reached, stretch.events.back());
      axis.stretches[i].push_back(std::move(stretch));
    }
  }
  return axis;
}

}  // namespace arenagrad::cli
