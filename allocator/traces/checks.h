// What every trace must keep to, whichever file it comes from. Readers ask before they hand an
// event on, and say where in the file it stands.
#pragma once

#include <string>
#include <unordered_map>

#include "allocator/traces/interval_set.h"
#include "allocator/traces/trace.h"

namespace arenagrad {

/// Largest size, address and sum of live bytes: far from what 64 bits hold, so that sums of two
/// don't overflow.
inline constexpr std::size_t kLargestTraceBytes = std::size_t{1} << 60;
/// Buffers live at once, at about 150 bytes each while a trace is read.
inline constexpr std::size_t kMostLiveBuffers = std::size_t{1} << 22;

class TraceChecks {
 public:
  /// What is wrong with the header: nothing when empty.
  static std::string problem(const TraceHeader& header);
  /// What is wrong with the event if it comes next: nothing when empty, and then it has come.
  std::string apply(const TraceEvent& event);

 private:
  std::string allocate(const TraceEvent& event);
  std::string free(const TraceEvent& event);
  std::string driver_call(const TraceEvent& event);

  struct Life {
    std::size_t bytes, offset, taken;
  };
  std::unordered_map<std::uint64_t, Life> live_;
  IntervalSet taken_, committed_;
  std::size_t live_bytes_ = 0;
  std::uint64_t time_ = 0;
};

}  // namespace arenagrad
