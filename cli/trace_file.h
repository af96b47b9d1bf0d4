// Traces in files: what --trace names, and what `trace convert` writes.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "allocator/fnv1a.h"
#include "allocator/ledger.h"
#include "allocator/traces/formats.h"
#include "cli/flags.h"
#include "experiments/experiment.h"

namespace arenagrad::cli {

/// A trace's file to read ("-": standard input), hashed as it passes.
class TraceInput {
 public:
  explicit TraceInput(const std::string& path);
  TraceInput(const TraceInput&) = delete;
  TraceInput& operator=(const TraceInput&) = delete;

  ByteSource& source() { return source_; }
  /// Of the whole file; reads what is left of it.
  std::string hash();

 private:
  ReadBytes read_;
  Fnv1a hash_;
  ByteSource source_;
};

/// The format of a file to write: by its extension. UsageError when that says nothing.
const TraceFormat& format_to_write(const std::string& flag, const std::string& path);

/// Writes a file in a format, all of it or nothing; with "-" to stdout. `fill` gets the sink.
void write_trace(const std::string& path, const TraceFormat& format, const Console& console,
                 const std::function<void(TraceSink&)>& fill);

/// Where a run's events go until --trace and --events write them; null without those flags.
class Recorded {
 public:
  explicit Recorded(const Flags& flags);
  std::vector<Event>* log() { return format_ || events_ ? &log_ : nullptr; }
  /// Writes the file of --trace, if given, and says so in a note.
  void write(const Experiment& experiment, const Flags& flags, const Console& console) const;
  /// The timeline of --events; null without the flag.
  Json timeline(const Experiment& experiment) const;
  /// Both, for a run that was refused; plans again only where one of them is wanted.
  Json write_refused(const Model& model, const Settings& settings, const Flags& flags,
                     const Console& console) const;

 private:
  const TraceFormat* format_ = nullptr;
  bool events_ = false;
  std::vector<Event> log_;
};

}  // namespace arenagrad::cli
