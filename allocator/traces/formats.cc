#include "allocator/traces/formats.h"

#include <vector>

#include "allocator/nearest.h"

namespace arenagrad {
namespace {

enum Index { jsonl, minimalloc, rmm, pytorch, perfetto };

constexpr TraceFormat kFormats[] = {
    {"jsonl", ".jsonl", "JSON Lines of our own: everything that was recorded", read_jsonl,
     make_jsonl_writer},
    {"minimalloc", ".csv", "MiniMalloc's CSV: a lifetime a line, with offsets where they are known",
     read_minimalloc, make_minimalloc_writer},
    {"rmm", ".rmm.csv", "RMM's log: allocations and frees by address", read_rmm, make_rmm_writer},
    {"pytorch", ".pickle", "a PyTorch memory snapshot, for pytorch.org/memory_viz", read_pytorch,
     make_pytorch_writer},
    {"perfetto", ".json", "Chrome's JSON for ui.perfetto.dev: phases, layers, bytes by category",
     nullptr, make_perfetto_writer},
};

bool has_column(std::string_view header, std::string_view name) {
  for (;;) {
    const auto comma = header.find(',');
    auto field = header.substr(0, comma);
    while (field.ends_with(' ') || field.ends_with('\r')) field.remove_suffix(1);
    while (field.starts_with(' ')) field.remove_prefix(1);
    if (field == name) return true;
    if (comma == std::string_view::npos) return false;
    header.remove_prefix(comma + 1);
  }
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kFormats; }

const TraceFormat& find_trace_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : kFormats) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  std::string text = "trace format: expected one of ";
  for (const auto known : names) text += (known == names.front() ? "" : ", ") + std::string(known);
  text += "; got " + quoted_excerpt(name);
  const auto nearest = nearest_name(name, names);
  if (!nearest.empty()) text += " (did you mean '" + std::string(nearest) + "'?)";
  throw Error(text);
}

const TraceFormat* trace_format_of(std::string_view path) {
  if (path.ends_with(".pkl")) return &kFormats[pytorch];
  const TraceFormat* found = nullptr;
  for (const TraceFormat& format : kFormats) {
    if (path.ends_with(format.extension) &&
        (found == nullptr || found->extension.size() < format.extension.size())) {
      found = &format;
    }
  }
  return found;
}

const TraceFormat& sniff_trace_format(ByteSource& source) {
  auto head = source.peek(4096);
  if (head.starts_with('\x80')) return kFormats[pytorch];
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  if (head.starts_with("{\"traceEvents\"")) {
    throw TraceError(
        "a trace: expected a format that can be read, got Chrome's JSON, at byte 0 of " +
        source.name());
  }
  if (head.starts_with('{')) return kFormats[jsonl];
  const auto header = head.substr(0, head.find('\n'));
  if (has_column(header, "Action") && has_column(header, "Pointer")) return kFormats[rmm];
  if (has_column(header, "size")) return kFormats[minimalloc];
  throw TraceError(
      "a trace: expected JSON Lines, MiniMalloc's or RMM's CSV or a pickle, got " +
      (head.empty() ? "an empty file" : "one that begins with " + quoted_excerpt(header)) +
      ", at byte 0 of " + source.name());
}

TraceLog load_trace(const std::string& path, const ReadTraceOptions& options) {
  ByteSource source(reading_file(path), path == "-" ? "<stdin>" : path);
  TraceLog trace;
  sniff_trace_format(source).read(source, trace, options);
  return trace;
}

}  // namespace arenagrad
