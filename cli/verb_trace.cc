#include <fmt/format.h>

#include "allocator/traces/totals.h"
#include "allocator/units.h"
#include "cli/parse.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/trace_file.h"
#include "cli/verbs.h"
#include "graph/execute.h"

namespace arenagrad::cli {
namespace {

/// Lets requests pass, without where they were placed.
class RequestsAlone final : public TraceSink {
 public:
  explicit RequestsAlone(TraceSink& next) : next_(next) {}

  void begin(const TraceHeader& header) override { next_.begin(header); }
  void event(const TraceEvent& event) override {
    using Kind = TraceEvent::Kind;
    const bool allocates = event.kind == Kind::allocate;
    if (!allocates && event.kind != Kind::free && event.kind != Kind::refuse &&
        event.kind != Kind::scope)
      return;
    TraceEvent request = event;
    if (allocates) {
      request.offset = kUnknownOffset;
      request.granted = 0;
    }
    next_.event(request);
  }
  void end() override { next_.end(); }

 private:
  TraceSink& next_;
};

/// Counts what passes, says how far it is, and stops when asked to.
class Watched final : public TraceSink {
 public:
  Watched(TraceSink& next, const Console& console, Progress& progress)
      : next_(next), console_(console), progress_(progress) {}

  void begin(const TraceHeader& header) override {
    totals_.begin(header);
    next_.begin(header);
  }
  void event(const TraceEvent& event) override {
    totals_.event(event);
    next_.event(event);
    if (totals_.events % 65536 != 0) return;
    if (console_.interrupted && console_.interrupted->load(std::memory_order_relaxed))
      throw Interrupted();
    progress_.show(fmt::format("{} events", with_commas(totals_.events)));
  }
  void end() override { next_.end(); }

  const TraceTotals& totals() const { return totals_; }

 private:
  TraceTotals totals_;
  TraceSink& next_;
  const Console& console_;
  Progress& progress_;
};

Table totals_table(const TraceTotals& totals) {
  auto table = Table::of_quantities("trace");
  const auto count = [](std::uint64_t value) { return Count{static_cast<std::int64_t>(value)}; };
  table.add("name", "name", totals.header().name.empty() ? Cell{} : Cell{totals.header().name});
  table.add("alignment", "alignment", Bytes{totals.header().alignment});
  table.add("events", "events", count(totals.events));
  table.add("allocations", "allocations", count(totals.allocations));
  table.add("frees", "frees", count(totals.frees));
  table.add("refused", "refused", count(totals.refusals));
  table.add("driver calls", "driver_calls", count(totals.driver_calls));
  table.add("live at the end", "live_at_end", count(totals.live));
  table.add("largest sum of live bytes", "lower_bound", Bytes{totals.peak_bytes});
  return table;
}

Json totals_json(const TraceTotals& totals) {
  return {{"name", totals.header().name},
          {"alignment", totals.header().alignment},
          {"events", totals.events},
          {"allocations", totals.allocations},
          {"frees", totals.frees},
          {"refused", totals.refusals},
          {"driver_calls", totals.driver_calls},
          {"live_at_end", totals.live},
          {"lower_bound", totals.peak_bytes}};
}

}  // namespace

ExitCode trace(const Flags& flags, const Console& console) {
  const auto& in = flags.trace_in;
  const auto& out = flags.trace_out;
  if (out == "-" && flags.trace_to.empty()) throw UsageError("OUT: expected --to with -, got none");
  if (out == "-" && flags.output.json_on_stdout())
    throw UsageError("OUT: expected a file, as JSON goes to stdout, got -");
  const auto& to =
      flags.trace_to.empty() ? format_to_write("OUT", out) : find_trace_format(flags.trace_to);
  TraceInput input(in);
  const auto& from = flags.trace_from.empty() ? sniff_trace_format(input.source())
                                              : find_trace_format(flags.trace_from);
  if (from.read == nullptr)
    throw UsageError(fmt::format("--from: expected a format that can be read, got {}", from.name));
  ReadTraceOptions options;
  if (flags.trace_device) options.device = static_cast<int>(*flags.trace_device);

  const auto totals = [&] {
    Progress progress(flags.output, console);
    std::optional<TraceTotals> counted;
    write_trace(out, to, console, [&](TraceSink& sink) {
      Watched watched(sink, console, progress);
      RequestsAlone alone(watched);
      TraceSink& first = flags.no_offsets ? static_cast<TraceSink&>(alone) : watched;
      from.read(input.source(), first, options);
      counted = watched.totals();
    });
    return *counted;
  }();

  Document document;
  document.json = json_header("trace", flags, in, input.hash(), "none");
  document.json["name"] = totals.header().name;
  document.json["from"] = {{"file", in}, {"format", from.name}};
  document.json["to"] = {{"file", out}, {"format", to.name}};
  document.json["trace"] = totals_json(totals);
  document.tables = {totals_table(totals)};
  document.answer = fmt::format(
      "{} ({}) has {} allocations and {} frees, at most {} live at once; written to {} ({}).", in,
      from.name, with_commas(totals.allocations), with_commas(totals.frees),
      exact_bytes(totals.peak_bytes), out, to.name);
  document.json["answer"] = document.answer;
  if (out != "-") {
    emit(document, flags.output, console);
    return ExitCode::ok;
  }
  // Stdout holds the trace.
  if (flags.output.json) write_file(*flags.output.json, document.json.dump(2) + "\n");
  note(document.answer, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
