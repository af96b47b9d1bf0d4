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
    const auto run =
        run_real(model, settings, {.device = options.device, .interrupted = options.interrupted});
    point.real =
        RealPoint{run.measurement.backend, run.measurement.planned_equals_observed.value_or(false),
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
    point.cost = step_cost(experiment.program.step, experiment.program, model.tape);
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

/// Counts points as they are begun, and stops between two of them.
class Pace {
 public:
  Pace(const SweepOptions& options, std::size_t of) : options_(options), of_(of) {}
  void next() {
    check_not_interrupted(options_);
    if (options_.progress) options_.progress(done_, of_);
    ++done_;
  }

 private:
  const SweepOptions& options_;
  std::size_t done_ = 0, of_;
};

/// One way after the other at the place of `last`.
std::vector<FrontierPoint> frontier_at(const Model& model, const SweepPoint& last,
                                       const std::vector<Recompute>& ways,
                                       const SweepOptions& options, Pace& pace) {
  std::vector<FrontierPoint> result;
  for (const auto& way : ways) {
    pace.next();
    FrontierPoint one{way, {.batch = last.batch, .mode = last.mode, .input = last.input}};
    auto settings = options.at(last.mode, last.batch);
    settings.plan.recompute = way;
    measure_point(model, settings, options, one.point);
    result.push_back(std::move(one));
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.point.cost.multiply_adds < b.point.cost.multiply_adds;
  });
  std::vector<std::optional<Tradeoff>> choices;
  for (const auto& [way, point, optimal] : result)
    choices.push_back(point.error.empty() && point.fits
                          ? std::optional(Tradeoff{static_cast<std::int64_t>(point.peak.requested),
                                                   static_cast<double>(point.cost.multiply_adds)})
                          : std::nullopt);
  const auto optimal = on_frontier(choices);
  for (std::size_t i = 0; i < result.size(); ++i) result[i].optimal = optimal[i];
  return result;
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
  const auto plain = source(std::nullopt);  // errors of the spec itself are the sweep's
  const auto ways = options.frontier
                        ? ways_to_recompute(plain.tape, options.settings.plan.recompute)
                        : std::vector<Recompute>{};
  Pace pace(options, options.modes.size() * (options.batches.size() * sizes.size() + ways.size()));
  for (const auto mode : options.modes) {
    const auto first = result.points.size();
    std::optional<Model> resized;
    for (const auto size : sizes) {
      std::string error;
      if (over_inputs) {
        try {
          resized = source(size);
        } catch (const Error& refused) {
          error = refused.what();
        }
      }
      for (const auto batch : options.batches) {
        pace.next();
        SweepPoint point;
        point.batch = batch;
        point.mode = mode;
        point.error = error;
        if (over_inputs) point.input = Shape{size, size};
        if (error.empty())
          measure_point(resized ? *resized : plain, options.at(mode, batch), options, point);
        result.points.push_back(std::move(point));
      }
    }
    if (!ways.empty() && result.points.back().error.empty())
      for (auto& one :
           frontier_at(resized ? *resized : plain, result.points.back(), ways, options, pace))
        result.frontier.push_back(std::move(one));
    if (over_inputs) continue;
    result.decompositions.push_back(
        decompose({result.points.begin() + static_cast<std::ptrdiff_t>(first), result.points.end()},
                  options));
  }
  return result;
}

}  // namespace arenagrad
