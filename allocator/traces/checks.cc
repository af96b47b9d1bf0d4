#include "allocator/traces/checks.h"

#include <algorithm>

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

bool power_of_two(std::size_t value) { return value > 0 && (value & (value - 1)) == 0; }

std::string size_problem(const std::string& what, std::size_t bytes) {
  if (bytes >= 1 && bytes <= kLargestTraceBytes) return {};
  return what + ": expected 1 to " + std::to_string(kLargestTraceBytes) + " bytes, got " +
         std::to_string(bytes);
}

std::string alignment_problem(std::size_t alignment) {
  if (power_of_two(alignment) && alignment <= kLargestTraceBytes) return {};
  return "alignment: expected a power of two, got " + std::to_string(alignment);
}

std::string range(std::size_t offset, std::size_t bytes) {
  return "[" + std::to_string(offset) + ", " + std::to_string(offset + bytes) + ")";
}

}  // namespace

std::string TraceChecks::problem(const TraceHeader& header) {
  return alignment_problem(header.alignment);
}

std::string TraceChecks::apply(const TraceEvent& event) {
  if (event.time != kUnknownTime) {
    if (event.time < time_) {
      return "time: expected at least " + std::to_string(time_) + ", got " +
             std::to_string(event.time);
    }
    time_ = event.time;
  }
  switch (event.kind) {
    case Kind::allocate: return allocate(event);
    case Kind::free: return free(event);
    case Kind::refuse: return size_problem("refusal of a buffer", event.bytes);
    case Kind::scope:
      return event.step >= 0 ? "" : "step: expected 0 or more, got " + std::to_string(event.step);
    default: return driver_call(event);
  }
}

std::string TraceChecks::allocate(const TraceEvent& event) {
  const auto what = "allocation of buffer " + std::to_string(event.id);
  if (auto problem = size_problem(what, event.bytes); !problem.empty()) return problem;
  if (event.granted != 0 && (event.granted < event.bytes || event.granted > kLargestTraceBytes)) {
    return what + ": expected at least " + std::to_string(event.bytes) + " bytes granted, got " +
           std::to_string(event.granted);
  }
  if (event.alignment != 0) {
    if (auto problem = alignment_problem(event.alignment); !problem.empty()) return problem;
  }
  const Life life{event.bytes, event.offset, std::max(event.bytes, event.granted)};
  if (live_.size() >= kMostLiveBuffers) {
    return "live buffers: expected at most " + std::to_string(kMostLiveBuffers) + ", got more";
  }
  if (live_bytes_ + life.bytes > kLargestTraceBytes) {
    return "live bytes: expected at most " + std::to_string(kLargestTraceBytes) + ", got more";
  }
  if (live_.contains(event.id)) {
    return what + ": expected one that is not live, got one that was not freed";
  }
  if (life.offset != kUnknownOffset) {
    if (life.offset > kLargestTraceBytes) {
      return what + ": expected an offset up to " + std::to_string(kLargestTraceBytes) + ", got " +
             std::to_string(life.offset);
    }
    if (!taken_.add(life.offset, life.offset + life.taken)) {
      return what + ": expected free memory, got " + range(life.offset, life.taken) +
             ", of which live buffers hold some";
    }
  }
  live_.emplace(event.id, life);
  live_bytes_ += life.bytes;
  return {};
}

std::string TraceChecks::free(const TraceEvent& event) {
  const auto found = live_.find(event.id);
  if (found == live_.end()) {
    return "free of buffer " + std::to_string(event.id) + ": expected a live one, got one that " +
           "was never allocated or is freed already";
  }
  const Life& life = found->second;
  if (life.offset != kUnknownOffset) taken_.remove(life.offset, life.offset + life.taken);
  live_bytes_ -= life.bytes;
  live_.erase(found);
  return {};
}

std::string TraceChecks::driver_call(const TraceEvent& event) {
  const std::string what(name(event.kind));
  if (auto problem = size_problem(what, event.bytes); !problem.empty()) return problem;
  if (event.offset > kLargestTraceBytes) {
    return what + ": expected an offset up to " + std::to_string(kLargestTraceBytes);
  }
  const std::size_t end = event.offset + event.bytes;
  const bool gives = event.kind == Kind::commit || event.kind == Kind::map;
  const bool takes = event.kind == Kind::decommit || event.kind == Kind::unmap;
  if (gives && !committed_.add(event.offset, end)) {
    return what + ": expected a range without memory, got " + range(event.offset, event.bytes);
  }
  if (takes && !committed_.remove(event.offset, end)) {
    return what + ": expected a range with memory, got " + range(event.offset, event.bytes);
  }
  return {};
}

}  // namespace arenagrad
