// The file formats of traces: one table of names, readers and writers. docs/traces.md says what
// each of them holds and what it loses.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "allocator/traces/byte_source.h"
#include "allocator/traces/trace.h"

namespace arenagrad {

struct ReadTraceOptions {
  std::optional<int> device;  // of a PyTorch snapshot with several; none: there must be only one
};

struct TraceFormat {
  std::string_view name;
  std::string_view extension;  // of the files that are written in it, unless somebody says more
  std::string_view summary;
  /// Null where the format cannot be read. Calls begin, the events that pass TraceChecks, and end.
  /// Throws TraceError, after which nothing more comes.
  void (*read)(ByteSource&, TraceSink&, const ReadTraceOptions&);
  /// A sink that writes; complete once `end` has returned. Throws TraceError for what the format
  /// cannot hold.
  std::unique_ptr<TraceSink> (*make_writer)(WriteBytes);
};

std::span<const TraceFormat> trace_formats();
/// Throws Error that lists the names and the nearest one.
const TraceFormat& find_trace_format(std::string_view name);
/// By the file's name: the longest extension that it ends in; null for none.
const TraceFormat* trace_format_of(std::string_view path);
/// By what the file begins with. Throws TraceError when that is none of them.
const TraceFormat& sniff_trace_format(ByteSource& source);

/// Reads a file ("-": standard input) whose format is what it begins with.
TraceLog load_trace(const std::string& path, const ReadTraceOptions& options = {});

// --- the table's entries -------------------------------------------------------------------------

void read_jsonl(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options);
void read_minimalloc(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options);
void read_rmm(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options);
void read_pytorch(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options);
std::unique_ptr<TraceSink> make_jsonl_writer(WriteBytes write);
std::unique_ptr<TraceSink> make_minimalloc_writer(WriteBytes write);
std::unique_ptr<TraceSink> make_rmm_writer(WriteBytes write);
std::unique_ptr<TraceSink> make_pytorch_writer(WriteBytes write);
std::unique_ptr<TraceSink> make_perfetto_writer(WriteBytes write);

}  // namespace arenagrad
