#include "allocator/traces/trace.h"

namespace arenagrad {

using Kind = TraceEvent::Kind;

std::string_view name(Kind kind) {
  constexpr std::string_view names[] = {"allocate", "free",     "refuse", "reserve", "release",
                                        "commit",   "decommit", "map",    "unmap",   "scope"};
  return names[static_cast<std::size_t>(kind)];
}

void TraceLog::event(const TraceEvent& event) {
  if (events_.size() == most_events_) {
    throw TraceError("a trace to keep in memory: expected at most " + std::to_string(most_events_) +
                     " events, got more");
  }
  events_.push_back(event);
  events_.back().name = kept(event.name);
  events_.back().phase = kept(event.phase);
}

std::string_view TraceLog::kept(std::string_view text) {
  if (text.empty()) return {};
  return *texts_.emplace(text).first;
}

void TraceLog::replay(TraceSink& sink) const {
  sink.begin(header_);
  for (const TraceEvent& event : events_) sink.event(event);
  sink.end();
}

}  // namespace arenagrad
