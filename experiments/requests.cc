#include "experiments/requests.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "allocator/traces/lives.h"
#include "graph/event_stream.h"

namespace arenagrad {
namespace {

/// Every strategy walks all of them, several times.
constexpr std::size_t kMostEvents = 10'000'000;

}  // namespace

RequestTrace requests_of(const Experiment& experiment) {
  const Program& program = experiment.program;
  RequestTrace trace{.name = experiment.model->name,
                     .alignment = program.alignment,
                     .granule = experiment.profile.granule,
                     .lifetimes = experiment.lifetimes};
  for (const Buffer& buffer : program.buffers) {
    trace.buffers.push_back({buffer.bytes, program.alignment, buffer.category});
  }
  EventStream stream(program, experiment.settings.steps);
  while (const auto event = stream.next()) {
    trace.events.push_back(
        {event->kind == Event::Kind::allocate, static_cast<std::uint32_t>(event->buffer)});
    if (trace.events.size() > kMostEvents)
      throw Error("allocators: expected a run of at most " + std::to_string(kMostEvents) +
                  " allocations and frees, got more; take a smaller batch or a larger micro-batch: "
                  "micro-steps repeat themselves");
    if (stream.steps_begun() <= 1) trace.first_step_end = trace.events.size();
  }
  return trace;
}

RequestTrace requests_of(const TraceLog& log, std::size_t granule) {
  RequestTrace trace{.name = log.header().name,
                     .alignment = log.header().alignment,
                     .granule = granule,
                     .lifetimes = lifetimes(log)};
  std::unordered_map<std::uint64_t, std::uint32_t> live;
  for (const TraceEvent& event : log.events()) {
    if (event.kind == TraceEvent::Kind::allocate) {
      if (trace.buffers.size() >= std::numeric_limits<std::uint32_t>::max() - 1)
        throw TraceError("too many allocations: expected fewer than 2^32");
      const auto buffer = static_cast<std::uint32_t>(trace.buffers.size());
      const std::size_t alignment = event.alignment > 0 ? event.alignment : log.header().alignment;
      trace.alignment = std::max(trace.alignment, alignment);
      trace.buffers.push_back(
          {event.bytes, alignment, event.category.value_or(Category::activation)});
      trace.events.push_back({true, buffer});
      live[event.id] = buffer;
    } else if (event.kind == TraceEvent::Kind::free) {
      const auto found = live.find(event.id);
      if (found == live.end()) continue;  // the readers refuse these
      trace.events.push_back({false, found->second});
      live.erase(found);
    }
  }
  std::vector<std::uint32_t> left;
  for (const auto& [id, buffer] : live) left.push_back(buffer);
  std::sort(left.begin(), left.end());
  for (std::uint32_t buffer : left) trace.events.push_back({false, buffer});
  return trace;
}

}  // namespace arenagrad
