// A model planned for settings, and its dry run: all that can be known without computing.
#pragma once

#include <atomic>
#include <vector>

#include "allocator/arena.h"
#include "experiments/measurement.h"
#include "graph/execute.h"
#include "graph/plan.h"
#include "kernels/profile.h"
#include "zoo/model.h"

namespace arenagrad {

/// The experiment refers to its model, which outlives it.
struct Experiment {
  const Model* model = nullptr;
  Settings settings;
  Profile profile;
  Program program;
  std::vector<Lifetime> lifetimes;  // of the program, for as many steps as are run
  std::size_t lower_bound = 0;      // of these, bytes: what no strategy can beat
  std::size_t aligned_bound = 0;    // the same with every buffer rounded up to its alignment

  std::size_t capacity() const { return settings.capacity.value_or(profile.capacity); }
};

/// Plans. Throws Error for settings that make no sense.
Experiment prepare(const Model& model, const Settings& settings);

/// What a ledger has written down by the end of a run; equal records mean equal runs, byte for
/// byte.
struct LedgerRecord {
  Totals totals;
  Snapshot peak;
  std::vector<BufferId> live_at_peak;
  std::uint64_t events = 0, digest = 0;
  std::size_t driver_reserved = 0;  // at the end of the run, by the driver's own count
  friend bool operator==(const LedgerRecord& a, const LedgerRecord& b);
};

/// Runs the experiment's program out of an arena over `driver`. Throws OutOfMemory, Interrupted;
/// whatever is thrown, no buffer is live; memory itself goes back with the driver. `log`, if given,
/// gets all of the ledger's events, those before something was thrown too.
LedgerRecord walk(const Experiment& experiment, const StrategyInfo& strategy, Driver& driver,
                  const ExecuteOptions& options, RunResult& result,
                  std::vector<Event>* log = nullptr);

/// `walk` without memory behind it, with another strategy or capacity when wanted. Error for an
/// opaque strategy, whose offsets nobody can foretell.
LedgerRecord dry_run(const Experiment& experiment, const StrategyInfo& strategy,
                     std::size_t capacity, std::vector<Event>* log = nullptr,
                     const std::atomic<bool>* interrupted = nullptr);

/// The largest of `buffers` with their lives, largest first, as many as the settings list.
std::vector<LiveBuffer> largest(const Experiment& experiment, std::vector<BufferId> buffers);

/// The measurement that a record amounts to. `record` may be a dry run's or a real run's.
Measurement measure(const Experiment& experiment, const LedgerRecord& record);

/// Prepared, run dry and measured. Throws DoesNotFit, Interrupted (a strategy that never reuses
/// memory has no two equal rounds, so that every one is walked).
struct DryRun {
  Experiment experiment;
  LedgerRecord record;
  Measurement measurement;
};
DryRun run_dry(const Model& model, const Settings& settings, std::vector<Event>* log = nullptr,
               const std::atomic<bool>* interrupted = nullptr);

/// The same, to hold a real run against. Of an opaque strategy it tells what is requested, which is
/// the run's to the byte; where that would lie stays open.
DryRun expect_run(const Model& model, const Settings& settings, std::vector<Event>* log = nullptr,
                  const std::atomic<bool>* interrupted = nullptr);

/// The unit of driver memory under a strategy, bytes.
std::size_t granule(const Experiment& experiment, const StrategyInfo& strategy);

}  // namespace arenagrad
