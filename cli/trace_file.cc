#include "cli/trace_file.h"

#include <fmt/format.h>

#include "allocator/traces/totals.h"
#include "allocator/units.h"
#include "cli/parse.h"
#include "cli/report/timeline_recorder.h"
#include "experiments/trace_recording.h"

namespace arenagrad::cli {

TraceInput::TraceInput(const std::string& path)
    : read_([this, read = reading_file(path)](char* into, std::size_t most) {
        const std::size_t count = read(into, most);
        hash_.add({into, count});
        return count;
      }),
      source_(read_, path == "-" ? "<stdin>" : path) {}

std::string TraceInput::hash() {
  char rest[4096];
  while (read_(rest, sizeof rest) > 0) {
  }
  return hash_.text();
}

const TraceFormat& format_to_write(const std::string& flag, const std::string& path) {
  if (const auto* format = trace_format_of(path)) return *format;
  std::string extensions;
  for (const auto& format : trace_formats())
    extensions += fmt::format("{}{}", extensions.empty() ? "" : ", ", format.extension);
  throw UsageError(
      fmt::format("{}: expected a file that ends in one of {}, got '{}'", flag, extensions, path));
}

void write_trace(const std::string& path, const TraceFormat& format, const Console& console,
                 const std::function<void(TraceSink&)>& fill) {
  const auto into = [&](Sink& sink) {
    fill(*format.make_writer([&sink](std::string_view text) { sink.write(text); }));
  };
  if (path == "-") return into(console.out);
  FileReplacement file(path);
  into(file);
  file.commit();
}

Recorded::Recorded(const Flags& flags)
    : format_(flags.trace.empty() ? nullptr : &format_to_write("--trace", flags.trace)),
      events_(flags.events) {}

Json Recorded::timeline(const Experiment& experiment) const {
  return events_ ? to_json(record_timeline(experiment, log_)) : Json(nullptr);
}

Json Recorded::write_refused(const Model& model, const Settings& settings, const Flags& flags,
                             const Console& console) const {
  if (!format_ && !events_) return nullptr;
  const auto experiment = prepare(model, settings);
  write(experiment, flags, console);
  return timeline(experiment);
}

void Recorded::write(const Experiment& experiment, const Flags& flags,
                     const Console& console) const {
  if (!format_) return;
  TraceTotals totals;
  write_trace(flags.trace, *format_, console, [&](TraceSink& sink) {
    TraceTee both(totals, sink);
    record_trace(experiment, log_, both);
  });
  note(fmt::format("trace: {} allocations, {} frees and {} driver calls in {}",
                   with_commas(totals.allocations), with_commas(totals.frees),
                   with_commas(totals.driver_calls), flags.trace),
       flags.output, console);
}

}  // namespace arenagrad::cli
