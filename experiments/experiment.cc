#include "experiments/experiment.h"

#include "experiments/does_not_fit.h"

namespace arenagrad {

Experiment prepare(const Model& model, const Settings& settings) {
  Experiment experiment;
  experiment.model = &model;
  experiment.settings = settings;
  experiment.profile = settings.profile;
  experiment.program = plan(model.tape, experiment.profile, settings.plan);
  experiment.lifetimes = lifetimes(experiment.program, settings.steps);
  experiment.lower_bound = lower_bound(experiment.lifetimes, false);
  experiment.aligned_bound = lower_bound(experiment.lifetimes, true);
  return experiment;
}

bool operator==(const LedgerRecord& a, const LedgerRecord& b) {
  return a.totals == b.totals && a.peak.event == b.peak.event &&
         a.peak.position == b.peak.position && a.peak.by_category == b.peak.by_category &&
         a.peak.requested == b.peak.requested && a.live_at_peak == b.live_at_peak &&
         a.events == b.events && a.digest == b.digest && a.driver_reserved == b.driver_reserved;
}

namespace {

/// Takes the log out of a ledger that goes away, whatever happens.
struct LogKeeper {
  Ledger& ledger;
  std::vector<Event>* log;
  ~LogKeeper() {
    if (log) *log = ledger.take_log();
  }
};

}  // namespace

LedgerRecord walk(const Experiment& experiment, const StrategyInfo& strategy, Driver& driver,
                  const ExecuteOptions& options, RunResult& result, std::vector<Event>* log) {
  Ledger ledger(log != nullptr);
  const LogKeeper keeper{ledger, log};
  Arena arena(driver, ledger, strategy, experiment.profile.alignment, experiment.lifetimes);
  result = execute(experiment.program, experiment.model->tape, arena, options);
  return {ledger.totals(), ledger.peak(),   ledger.live_at_peak(),
          ledger.events(), ledger.digest(), driver.reserved()};
}

std::size_t granule(const Experiment& experiment, const StrategyInfo& strategy) {
  return strategy.opaque ? 1 : experiment.profile.granule;
}

namespace {

LedgerRecord simulate(const Experiment& experiment, const StrategyInfo& strategy,
                      std::size_t capacity, std::vector<Event>* log,
                      const std::atomic<bool>* interrupted) {
  // What no process could hold is planned all the same, with addresses that no process has.
  const bool beyond = experiment.lower_bound > kProcessRange / 2;
  SimulatedDriver driver(capacity, granule(experiment, strategy),
                         beyond ? kUnlimited : kProcessRange);
  RunResult none;
  return walk(experiment, strategy, driver,
              {.steps = experiment.settings.steps,
               .seed = experiment.settings.seed,
               .interrupted = interrupted},
              none, log);
}

void check_places(const StrategyInfo& strategy) {
  if (strategy.opaque)
    throw Error("a dry run: expected a strategy that says where buffers lie, got " +
                std::string(strategy.name) + ", which is opaque");
}

}  // namespace

LedgerRecord dry_run(const Experiment& experiment, const StrategyInfo& strategy,
                     std::size_t capacity, std::vector<Event>* log,
                     const std::atomic<bool>* interrupted) {
  check_places(strategy);
  return simulate(experiment, strategy, capacity, log, interrupted);
}

DryRun run_dry(const Model& model, const Settings& settings, std::vector<Event>* log,
               const std::atomic<bool>* interrupted) {
  check_places(find_strategy(settings.strategy));
  return expect_run(model, settings, log, interrupted);
}

DryRun expect_run(const Model& model, const Settings& settings, std::vector<Event>* log,
                  const std::atomic<bool>* interrupted) {
  DryRun result{prepare(model, settings), {}, {}};
  const auto& strategy = find_strategy(settings.strategy);
  try {
    result.record =
        simulate(result.experiment, strategy, result.experiment.capacity(), log, interrupted);
  } catch (const OutOfMemory& error) {
    throw DoesNotFit(explain(result.experiment, error));
  }
  result.measurement = measure(result.experiment, result.record);
  return result;
}

}  // namespace arenagrad
