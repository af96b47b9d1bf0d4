// For formats that cannot do without addresses.
#pragma once

#include <memory>

#include "allocator/traces/trace.h"

namespace arenagrad {

/// Where the first addresses of an exported trace lie: like those of a device, and exact as a
/// double, which viewers compute with.
inline constexpr std::size_t kTraceBaseAddress = 0x7f0000000000;

/// Hands a trace on to `sink` as it is if its buffers have offsets, else with those that best-fit
/// gives them, and its driver calls. TraceError when some have and some don't.
std::unique_ptr<TraceSink> make_placing(std::unique_ptr<TraceSink> sink);

}  // namespace arenagrad
