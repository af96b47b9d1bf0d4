// What fuzzers do with an input: read it in one format and write it in all of them.
#pragma once

#include <string_view>

#include "allocator/traces/formats.h"

namespace arenagrad::testing {

/// Whether it could be read. Whatever a reader lets pass must pass the other readers again: a
/// writer may refuse it with a TraceError, but what it writes is whole. Any other exception
/// escapes.
inline bool read_and_write_all(std::string_view format, std::string_view input) {
  TraceLog trace(1 << 16);
  try {
    ByteSource source(reading_text(input), "input");
    find_trace_format(format).read(source, trace, {});
  } catch (const TraceError&) {
    return false;
  }
  for (const TraceFormat& out : trace_formats()) {
    std::string text;
    try {
      trace.replay(*out.make_writer([&](std::string_view more) { text += more; }));
    } catch (const TraceError&) {
      continue;
    }
    if (out.read == nullptr) continue;
    TraceLog again;
    ByteSource source(reading_text(text), "written");
    out.read(source, again, {});
  }
  return true;
}

}  // namespace arenagrad::testing
