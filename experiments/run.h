// The same experiment for real, on this machine's processor or on another device.
#pragma once

#include <functional>
#include <memory>

#include "experiments/experiment.h"
#include "kernels/device.h"

namespace arenagrad {

struct RunOptions {
  /// What computes, made for the profile that the settings plan for; null: this processor.
  Device* device = nullptr;
  ArenaKind arena = ArenaKind::growing;  // a processor's memory always grows
  Feed* feed = nullptr;                  // null: noise from the settings' seed
  std::size_t host_held = 0;             // bytes of arrays that the caller holds already
  std::size_t host_grows = 0;            // bytes that its observer will hold by the end of the run
  /// Its time is left out of the measured times.
  Observer* observer = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
  /// Gets the ledger's events: the real run's, or those of the dry run where that didn't fit.
  std::vector<Event>* log = nullptr;
  /// Called after each step with its 1-based number.
  std::function<void(std::int64_t step, double loss)> progress;
};

struct Run {
  Experiment experiment;
  Measurement measurement;
  LedgerRecord planned, observed;
};

/// Dry run, check that device and machine have the memory, real run. `planned_equals_observed` says
/// whether the two ledgers agree, byte for byte. Throws DoesNotFit, NotEnoughMemory, Interrupted.
Run run_real(const Model& model, const Settings& settings, const RunOptions& options);

/// Medians over steps, the first left out when there are more.
Seconds medians(const std::vector<StepTimes>& times);

}  // namespace arenagrad
