#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/trace_file.h"
#include "cli/verbs.h"
#include "experiments/run.h"

namespace arenagrad::cli {
namespace {

std::string answer_of(const Measurement& m) {
  const auto losses = m.losses.size() > 1
                          ? fmt::format("loss {:.6g} to {:.6g} in {} steps", m.losses.front(),
                                        m.losses.back(), m.losses.size())
                          : fmt::format("loss {:.9g}", m.losses.empty() ? 0 : m.losses.front());
  const auto taken =
      m.pool ? fmt::format("the pool used {} and reserved {} at most",
                           exact_bytes(m.pool->used_high), exact_bytes(m.pool->reserved_high))
             : "a footprint of " + exact_bytes(m.bytes.footprint);
  return fmt::format(
      "{}: {}, {} at its peak, {}, {} a step; {}, books {}.", subject(m.name, m.settings), losses,
      exact_bytes(m.bytes.peak_requested), taken,
      shown(Duration{m.seconds ? m.seconds->step_median : 0}),
      m.planned_equals_observed.value_or(false) ? "planned == observed" : "planned != observed",
      m.balanced ? "balanced" : "NOT BALANCED");
}

}  // namespace

ExitCode run(const Flags& flags, const Console& console) {
  const auto settings = flags.settings(kDefaultBatch);
  const auto model = load(flags);
  const auto device = flags.device.opened()->open();
  Recorded recorded(flags);
  auto data = load_data(flags, model, console);
  try {
    const auto done = [&] {
      Progress progress(flags.output, console);
      RunOptions options;
      options.device = device.get();
      options.arena = flags.device.arena;
      if (data) {
        options.feed = &*data;
        options.host_held = data->bytes();
      }
      options.interrupted = console.interrupted;
      options.log = recorded.log();
      options.progress = [&](std::int64_t step, double loss) {
        progress.show(fmt::format("step {} of {}, loss {:.6g}", step, settings.steps, loss));
      };
      return run_real(model, settings, options);
    }();
    recorded.write(done.experiment, flags, console);
    const auto& m = done.measurement;
    Document document;
    document.json = json_header("run", flags, model, m.backend);
    put(document.json, m);
    document.json["timeline"] = recorded.timeline(done.experiment);
    document.tables = {settings_table(m),
                       bytes_table(m),
                       category_table(m.bytes.by_category_at_peak, "at the peak, by category"),
                       top_table(m.top, "at the peak"),
                       time_table(m),
                       loss_table(m)};
    document.answer = answer_of(m);
    document.json["answer"] = document.answer;
    emit(document, flags.output, console);
    return m.balanced && m.planned_equals_observed.value_or(false) ? ExitCode::ok
                                                                   : ExitCode::check_failed;
  } catch (const DoesNotFit& error) {
    return emit_out_of_memory("run", error.report,
                              recorded.write_refused(model, settings, flags, console), model, flags,
                              console);
  } catch (const NotEnoughMemory& error) {
    return emit_not_enough("run", error, model, settings, flags, console);
  }
}

}  // namespace arenagrad::cli
