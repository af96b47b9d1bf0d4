// The largest batch that fits, exactly, and what the forum's formulas say beside it.
//
// What a batch needs without scratch never falls as it grows, so the largest batch whose bound fits
// bounds all that fit. From there each batch is planned and run dry under the strategy, downwards,
// until one fits: a larger batch that fits below a smaller one that doesn't is found as well.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/batch_formulas.h"
#include "experiments/does_not_fit.h"
#include "experiments/experiment.h"
#include "experiments/frontier.h"
#include "experiments/largest.h"
#include "kernels/device.h"

namespace arenagrad {

/// A model with another image size where one is given (height = width). Throws Error.
using SizedModel = std::function<Model(std::int64_t size)>;

struct FitOptions {
  Settings settings;        // its capacity is ignored
  std::size_t memory = 0;   // bytes
  std::size_t reserve = 0;  // bytes of it that are not ours
  std::optional<std::int64_t> micro_batch;
  std::int64_t most = 1;                  // no larger batch is looked at
  bool most_was_asked = false;            // by the user; otherwise a long graph stops earlier
  std::optional<std::int64_t> effective;  // batch to reach by whatever mode
  bool prove = false;
  Device* device = nullptr;  // that computes for `prove`; null: this processor
  bool frontier = false;     // with gradients alone
  /// Each new batch has a library asked about engines, which takes seconds: fewer are looked at.
  bool asks_engines = false;
  std::optional<double> budget;  // seconds for the walk downwards
  SizedModel sized;              // for advice when a batch of one does not fit; may be empty
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::int64_t batch)> progress;  // batch about to be planned

  std::size_t capacity() const { return memory > reserve ? memory - reserve : 0; }
};

/// A way to a gradient over `batch` samples in this memory.
struct Route {
  GradientMode mode = GradientMode::full_batch;
  std::int64_t batch = 0, micro_batch = 0;
  bool fits = false;
  std::string refused;                   // why it could not be planned, or was not looked at
  std::optional<std::size_t> footprint;  // where it fits
  std::size_t lower_bound = 0;           // what any strategy needs; 0: not planned
  std::int64_t passes = 0;               // forward and backward passes over the network
  StepCost cost;                         // of a step; the multiply-adds are the same in all modes
};

/// A way to recompute, and the largest batch that fits with it.
struct FitOnFrontier {
  Recompute recompute;
  std::string error;  // why it was not looked at
  Largest found;
  std::size_t footprint = 0;  // of the largest batch
  StepCost cost;              // of a step of it
  bool optimal = false;       // no other fits as many samples for no more multiply-adds a sample

  /// The search ended before a batch that does not fit.
  bool stopped() const {
    return found.unexamined || (found.largest > 0 && !found.next_is_refused());
  }
};

/// Something that makes a batch of one take less.
struct Remedy {
  std::string what;
  bool fits = false;
  std::optional<std::size_t> footprint;  // without a limit
};

struct Proof {
  bool ran = false;              // the largest batch, for real
  bool same_ledger = false;      // its events were those planned
  bool next_refused = false;     // the next batch
  std::string message;           // what the refusal says; or why there was no run
  std::string backend = "none";  // what computed
};

struct Fit {
  Settings settings;  // of the largest batch; of the smallest where none fits
  std::size_t capacity = 0;
  Largest found;
  std::size_t footprint_at_largest = 0;
  std::optional<std::size_t> footprint_at_next;  // without a limit; nothing if it cannot be planned
  std::string next_refused;                      // why it can't be planned
  bool stopped_by_graph = false;  // no longer graph was looked for, unless asked with `most`
  std::vector<BatchFormula> formulas;
  std::vector<Route> routes;
  std::vector<FitOnFrontier> frontier;  // from the least time to the most; empty unless asked for
  std::optional<Proof> proof;
  /// A batch of one doesn't fit: why, and what would help.
  std::optional<OutOfMemoryReport> why_not;
  std::vector<Remedy> remedies;
};

/// Throws Interrupted, and Error where not even a batch of one can be planned.
Fit fit(const Model& model, const FitOptions& options);

}  // namespace arenagrad
