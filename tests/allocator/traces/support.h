// Traces to read and write in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "allocator/traces/formats.h"
#include "allocator/traces/trace.h"
#include "tests/allocator/traces/sample.h"

namespace arenagrad::testing {

inline TraceLog read_as(std::string_view format, std::string_view text,
                        const ReadTraceOptions& options = {}) {
  ByteSource source(reading_text(text), "file");
  TraceLog trace;
  find_trace_format(format).read(source, trace, options);
  return trace;
}

inline std::string write_as(std::string_view format, const TraceLog& trace) {
  std::string text;
  trace.replay(
      *find_trace_format(format).make_writer([&](std::string_view more) { text += more; }));
  return text;
}

/// What reading ends with; empty when it doesn't fail.
inline std::string error_of(std::string_view format, std::string_view text,
                            const ReadTraceOptions& options = {}) {
  try {
    read_as(format, text, options);
  } catch (const TraceError& error) {
    return error.what();
  }
  return {};
}

inline const char* small_trace() { return kSmallTrace; }

/// The events without what a format cannot hold.
template <class Forget>
std::vector<TraceEvent> events_without(const TraceLog& trace, const Forget& forget) {
  std::vector<TraceEvent> events;
  for (TraceEvent event : trace.events()) {
    if (forget(event)) events.push_back(event);
  }
  return events;
}

inline void expect_equal(const std::vector<TraceEvent>& a, const std::vector<TraceEvent>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i]) << "event " << i << ": " << name(a[i].kind) << " " << a[i].id << ", "
                              << name(b[i].kind) << " " << b[i].id;
  }
}

}  // namespace arenagrad::testing
