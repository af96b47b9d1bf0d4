#include "experiments/sweep.h"

#include <algorithm>

#include "experiments/does_not_fit.h"
#include "experiments/host_memory.h"
#include "experiments/run.h"

namespace arenagrad {
namespace {

void check_not_interrupted(const SweepOptions& options) {
  if (options.interrupted && options.interrupted->load(std::memory_order_relaxed))
    throw Interrupted();
}

void run_point(const Model& model, const Settings& settings, const SweepOptions& options,
               SweepPoint& point) {
  try {
    const auto run = run_real(model, settings, {.interrupted = options.interrupted});
    point.real = RealPoint{run.measurement.planned_equals_observed.value_or(false),
                           run.measurement.seconds ? run.measurement.seconds->step_median : 0,
                           run.measurement.bytes.context};
  } catch (const NotEnoughMemory& error) {
    point.real_error = error.what();
  } catch (const DoesNotFit& error) {
    point.real_error = error.what();
  }
}

/// What the dry run says and the peak found in the program are two accounts of the same bytes.
void check_agrees(const PlannedPeak& peak, const LedgerRecord& record) {
  check_contract(
      peak.requested == record.peak.requested && peak.by_category == record.peak.by_category,
      "the peak of a program is not that of its dry run");
}

void measure_point(const Model& model, const Settings& settings, const SweepOptions& options,
                   SweepPoint& point) {
  try {
    if (model.samples.size() == 1) point.input = model.tape.tensor(model.samples.front()).shape;
    if (options.peaks_alone) {
      const auto program = plan(model.tape, settings.profile, settings.plan);
      point.peak = planned_peak(program, model.tape, settings.steps);
      return;
    }
    const auto experiment = prepare(model, settings);
    point.peak = planned_peak(experiment.program, model.tape, settings.steps);
    point.saved = saved_bytes(experiment.program, model.tape);
    const auto record =
        dry_run(experiment, find_strategy(settings.strategy), experiment.capacity());
    check_agrees(point.peak, record);
    point.granted = record.totals.peak_granted;
    point.footprint = record.totals.footprint;
    point.reserved = record.totals.peak_reserved;
  } catch (const OutOfMemory&) {
    point.fits = false;
    return;
  } catch (const ContractError&) {
    throw;
  } catch (const ModeRefused&) {
    throw;                        // of no batch, or of a single one alone: nothing to sweep
  } catch (const Error& error) {  // batch norm over a single value, a shape beyond 64 bits
    point.error = error.what();
    return;
  }
  if (options.real) run_point(model, settings, options, point);
}

}  // namespace

Settings at_batch(Settings settings, std::int64_t batch, std::optional<std::int64_t> micro_batch) {
  const bool whole = settings.plan.mode == GradientMode::full_batch;
  settings.plan.batching.batch = batch;
  settings.plan.batching.micro_batch = std::min(batch, micro_batch.value_or(whole ? batch : 1));
  return settings;
}

Sweep sweep(const ModelSource& source, const SweepOptions& options) {
  Sweep result;
  const bool over_inputs = !options.inputs.empty();
  const auto sizes = over_inputs ? options.inputs : std::vector<std::int64_t>{0};
  const auto of = options.modes.size() * options.batches.size() * sizes.size();
  const auto plain = source(std::nullopt);  // errors of the spec itself are the sweep's
  for (const auto mode : options.modes) {
    const auto first = result.points.size();
    for (const auto size : sizes) {
      std::optional<Model> resized;
      std::string error;
      if (over_inputs) {
        try {
          resized = source(size);
        } catch (const Error& refused) {
          error = refused.what();
        }
      }
      for (const auto batch : options.batches) {
        check_not_interrupted(options);
        if (options.progress) options.progress(result.points.size(), of);
        SweepPoint point;
        point.batch = batch;
        point.mode = mode;
        point.error = error;
        if (over_inputs) point.input = Shape{size, size};
        const auto settings = at_batch(in_mode(options.settings, mode), batch, options.micro_batch);
        if (error.empty()) measure_point(resized ? *resized : plain, settings, options, point);
        result.points.push_back(std::move(point));
      }
    }
    if (over_inputs) continue;
    result.decompositions.push_back(
        decompose({result.points.begin() + static_cast<std::ptrdiff_t>(first), result.points.end()},
                  options));
  }
  return result;
}

}  // namespace arenagrad
