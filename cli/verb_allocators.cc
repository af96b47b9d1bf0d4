#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/parse.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/trace_file.h"
#include "cli/verb_plots.h"
#include "cli/verbs.h"
#include "experiments/lab.h"

namespace arenagrad::cli {
namespace {

double percent_over(std::size_t bytes, std::size_t bound) {
  return bound == 0 ? 0 : 100.0 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1);
}

double ratio(std::size_t bytes, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(bound);
}

/// "optimal", "gap 0.31 %", nothing for online strategies; what the clock cut short says so.
std::string proof_of(const LabRow& row) {
  std::string text;
  if (row.offline) {
    text = row.proven ? "optimal"
                      : fmt::format("gap {:.2f} %", percent_over(row.footprint, *row.bound));
  }
  if (row.truncated) text += text.empty() ? "truncated" : ", truncated";
  return text;
}

Cell bytes_or_nothing(const std::optional<std::size_t>& bytes) {
  return bytes ? Cell{Bytes{*bytes}} : Cell{};
}

Table sizes_table(const LabReport& report) {
  Table table{"bytes",
              {{"strategy", "strategy"},
               {"active", "peak_active", true},
               {"footprint", "footprint", true},
               {"ratio", "ratio", true},
               {"reserved", "reserved", true},
               {"internal", "internal_waste", true},
               {"external", "external_waste", true},
               {"holes", "hole_ratio", true},
               {"smallest device", "smallest_device", true},
               {"first step", "first_step_footprint", true},
               {"proof", "proof"}}};
  for (const LabRow& row : report.rows) {
    if (!row.error.empty()) {
      table.rows.push_back({row.strategy, {}, {}, {}, {}, {}, {}, {}, {}, {}, "could not run"});
      continue;
    }
    table.rows.push_back({row.strategy, Bytes{row.peak_active}, Bytes{row.footprint},
                          Real{ratio(row.footprint, report.lower_bound), 5}, Bytes{row.reserved},
                          Bytes{row.internal_waste}, Bytes{row.external_waste},
                          Share{row.hole_ratio}, bytes_or_nothing(row.smallest_device),
                          bytes_or_nothing(row.first_step_footprint), proof_of(row)});
  }
  return table;
}

Table times_table(const LabReport& report) {
  Table table{"host time (the driver's left out) and driver calls",
              {{"strategy", "strategy"},
               {"ns per allocate", "ns_per_allocate", true},
               {"p99", "ns_per_allocate_p99", true},
               {"ns per free", "ns_per_free", true},
               {"p99", "ns_per_free_p99", true},
               {"planning", "plan_seconds", true},
               {"driver calls", "driver_calls", true},
               {"driver bytes", "driver_bytes", true}}};
  for (const LabRow& row : report.rows) {
    if (!row.error.empty()) continue;
    const auto& t = row.times;
    table.rows.push_back(
        {row.strategy, Real{t.allocate.median, 3}, Real{t.allocate.p99, 3}, Real{t.free.median, 3},
         Real{t.free.p99, 3}, row.plan_seconds ? Cell{Duration{*row.plan_seconds}} : Cell{},
         Count{static_cast<std::int64_t>(row.driver_calls)}, Bytes{row.driver_bytes}});
  }
  return table;
}

Table trace_table(const LabReport& report) {
  auto table = Table::of_quantities("trace");
  const auto count = [](std::size_t n) { return Count{static_cast<std::int64_t>(n)}; };
  if (!report.trace.name.empty()) table.add("name", "name", report.trace.name);
  table.add("buffers", "buffers", count(report.trace.buffers.size()));
  table.add("allocations and frees", "events", count(report.trace.events.size()));
  table.add("alignment", "alignment", Bytes{report.trace.alignment});
  table.add("lower bound", "lower_bound", Bytes{report.lower_bound});
  table.add("aligned bound", "aligned_bound", Bytes{report.aligned_bound});
  return table;
}

Table definitions_table() {
  Table table{"what the columns say", {{"word", "word"}, {"meaning", "meaning"}}};
  for (const auto& [word, meaning] : kLabDefinitions) table.rows.push_back({word, meaning});
  return table;
}

Json json_of(const LabRow& row, const LabReport& report) {
  Json json{{"strategy", row.strategy}, {"offline", row.offline}};
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  json["peak_requested"] = row.peak_requested;
  json["peak_active"] = row.peak_active;
  json["footprint"] = row.footprint;
  json["reserved"] = row.reserved;
  json["ratio"] = number(ratio(row.footprint, report.lower_bound));
  json["internal_waste"] = row.internal_waste;
  json["external_waste"] = row.external_waste;
  json["hole_ratio"] = number(row.hole_ratio);
  json["smallest_device"] = optional(row.smallest_device);
  json["fits_capacity"] = optional(row.fits_capacity);
  json["first_step_footprint"] = optional(row.first_step_footprint);
  json["driver_calls"] = row.driver_calls;
  json["driver_bytes"] = row.driver_bytes;
  json["ns_per_allocate"] = {{"median", number(row.times.allocate.median)},
                             {"p99", number(row.times.allocate.p99)}};
  json["ns_per_free"] = {{"median", number(row.times.free.median)},
                         {"p99", number(row.times.free.p99)}};
  json["plan_seconds"] = optional(row.plan_seconds);
  json["proof"] = row.offline ? Json(row.proven ? "optimal" : "gap") : Json(nullptr);
  json["gap"] = row.offline ? number(percent_over(row.footprint, *row.bound) / 100) : Json(nullptr);
  json["truncated"] = row.truncated;
  return json;
}

/// What the lab runs on, and the JSON that says where it is from.
struct Input {
  RequestTrace trace;
  Json header;
};

Input from_model(const Flags& flags) {
  const auto model = load(flags);
  const auto settings = flags.settings(kDefaultBatch);
  const auto experiment = prepare(model, settings);
  Input input{requests_of(experiment), json_header("allocators", flags, model, "none")};
  input.trace.name = subject(model.name, settings);
  input.header["name"] = model.name;
  input.header["device"] = experiment.profile.name;
  put(input.header, settings);
  input.header.erase("strategy");
  return input;
}

Input from_file(const Flags& flags) {
  TraceInput file(flags.trace);
  TraceLog log;
  sniff_trace_format(file.source()).read(file.source(), log, {});
  Input input{requests_of(log, Profile{}.granule),
              json_header("allocators", flags, flags.trace, file.hash(), "none")};
  if (input.trace.events.empty()) throw Error(flags.trace + ": expected allocations, got none");
  if (input.trace.name.empty()) input.trace.name = flags.trace;
  input.header["name"] = input.trace.name;
  return input;
}

Input input_of(const Flags& flags, const Console& console) {
  if (flags.trace.empty()) {
    if (flags.spec.empty())
      throw UsageError("SPEC: expected a model, or --trace FILE, got neither");
    return from_model(flags);
  }
  if (!flags.spec.empty())
    throw UsageError("--trace: expected it alone, got SPEC '" + flags.spec + "' too");
  Input input = from_file(flags);
  note("lifetimes are half-open; at one time frees come before allocations", flags.output, console);
  return input;
}

}  // namespace

ExitCode allocators(const Flags& flags, const Console& console) {
  LabOptions options{.only = flags.only,
                     .seconds = flags.budget,
                     .capacity = flags.capacity,
                     .interrupted = console.interrupted};
  Input input = input_of(flags, console);
  const LabReport report = [&] {
    Progress progress(flags.output, console);
    options.progress = [&](const std::string& strategy, const std::string& doing) {
      progress.show(strategy + ": " + doing);
    };
    return run_lab(std::move(input.trace), options);
  }();

  Document document;
  document.json = std::move(input.header);
  document.json["trace"] = {{"name", report.trace.name},
                            {"buffers", report.trace.buffers.size()},
                            {"events", report.trace.events.size()},
                            {"alignment", report.trace.alignment},
                            {"lower_bound", report.lower_bound},
                            {"aligned_bound", report.aligned_bound}};
  document.json["capacity"] = flags.capacity ? Json(*flags.capacity) : Json(nullptr);
  document.json["rows"] = Json::array();
  for (const LabRow& row : report.rows) document.json["rows"].push_back(json_of(row, report));
  document.tables = {trace_table(report), sizes_table(report), times_table(report),
                     definitions_table()};
  document.answer = recommendation(report);
  if (flags.capacity) {
    std::string fitting;
    for (const LabRow& row : report.rows) {
      if (row.fits_capacity.value_or(false))
        fitting += (fitting.empty() ? "" : ", ") + row.strategy;
    }
    document.answer +=
        fmt::format(" A capacity of {} suffices for {}.", exact_bytes(*flags.capacity),
                    fitting.empty() ? "none" : fitting);
  }
  document.json["answer"] = document.answer;
  document.plot = lab_plot(report);
  emit(document, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
