#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/engine_tables.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/trace_file.h"
#include "cli/verbs.h"

namespace arenagrad::cli {
namespace {

std::string answer_of(const Measurement& m) {
  const auto& bytes = m.bytes;
  return fmt::format(
      "{} needs {} at its peak in {}{}; {} takes a footprint of {}, {:.4f} times the lower bound; "
      "books {}.",
      subject(m.name, m.settings), exact_bytes(bytes.peak_requested), m.peak_at.phase,
      m.peak_at.layer.empty() ? "" : " of " + m.peak_at.layer, m.settings.strategy,
      exact_bytes(bytes.footprint),
      bytes.lower_bound == 0
          ? 1.0
          : static_cast<double>(bytes.footprint) / static_cast<double>(bytes.lower_bound),
      m.balanced ? "balanced" : "NOT BALANCED");
}

/// --engines.
void list_engines_in(Document& document, const Experiment& experiment, const Flags& flags) {
  const auto list = list_engines(experiment, *flags.device.opened()->planner());
  document.json["engines"] = engines_json(list);
  document.tables.push_back(engines_table(list));
}

}  // namespace

ExitCode plan(const Flags& flags, const Console& console) {
  const auto settings = flags.settings(kDefaultBatch);
  Recorded recorded(flags);
  const auto model = load(flags);
  try {
    const auto dry = run_dry(model, settings, recorded.log(), console.interrupted);
    recorded.write(dry.experiment, flags, console);
    const auto& m = dry.measurement;
    Document document;
    document.json = json_header("plan", flags, model, m.backend);
    put(document.json, m);
    document.json["timeline"] = recorded.timeline(dry.experiment);
    document.tables = {settings_table(m), bytes_table(m),
                       category_table(m.bytes.by_category_at_peak, "at the peak, by category"),
                       top_table(m.top, "at the peak")};
    if (flags.device.list_engines) list_engines_in(document, dry.experiment, flags);
    document.answer = answer_of(m);
    document.json["answer"] = document.answer;
    emit(document, flags.output, console);
    return m.balanced ? ExitCode::ok : ExitCode::check_failed;
  } catch (const DoesNotFit& error) {
    return emit_out_of_memory("plan", error.report,
                              recorded.write_refused(model, settings, flags, console), model, flags,
                              console);
  }
}

}  // namespace arenagrad::cli
