// A peak for each of many batches (or image sizes), and what it is made of: fixed bytes and bytes
// per sample, exactly. Answers "is memory linear in the batch?".
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/frontier.h"
#include "experiments/peak_line.h"
#include "kernels/device.h"

namespace arenagrad {

/// `settings` for another batch. In full-batch without a micro-batch of its own it is the batch;
/// otherwise it stays, or is the batch where that is smaller.
Settings at_batch(Settings settings, std::int64_t batch, std::optional<std::int64_t> micro_batch);

/// A real run of a point.
struct RealPoint {
  std::string backend;       // what computed: "cpu"
  bool same_ledger = false;  // its events are the dry run's, byte for byte
  double step_seconds = 0;
  std::size_t context = 0;  // bytes of the process that are not the arena's: libraries', a GPU's
};

struct SweepPoint {
  std::int64_t batch = 0;
  GradientMode mode = GradientMode::full_batch;
  Shape input;        // of a sample; empty where a model has several inputs
  std::string error;  // why there is nothing more: it could not be planned
  PlannedPeak peak;
  SavedBytes saved;
  StepCost cost;            // of a steady step
  bool fits = true;         // in the capacity; else the rest is 0
  std::size_t granted = 0;  // the highest sum of live bytes after rounding each to the alignment
  std::size_t footprint = 0, reserved = 0;
  std::optional<RealPoint> real;
  std::string real_error;  // why it was not run
};

/// Batches `from` to `to` (of those examined) whose peak is set at the same place and has one line.
/// Between two examined batches of a piece the peak is on the line as well, because a maximum of
/// lines is convex, unless a kernel's scratch changes there.
struct SweepPiece {
  std::int64_t from = 0, to = 0;
  std::string peak_at;
  BatchLine line;
};

/// The pieces of one mode. Empty when no point could be planned.
struct Decomposition {
  GradientMode mode = GradientMode::full_batch;
  std::int64_t micro_batch = 0;  // 0: the batch
  std::vector<SweepPiece> pieces;
  /// The ruling line, that of the largest batch, and the least batch from which on every examined
  /// point is on it, but for scratch.
  BatchLine line;
  std::int64_t valid_from = 0;
  /// The largest distance of an examined peak, from there on, to the line: requested bytes, and
  /// why; 0 and empty where there is none. Then what rounding to the alignment adds at most.
  std::size_t largest_residual = 0;
  std::int64_t residual_at = 0;
  std::string residual_cause;
  std::size_t largest_rounding = 0;
  /// The first examined batch whose activations and stashes at the peak are more than parameters.
  std::optional<std::int64_t> activations_outgrow_parameters;
  bool outgrown_from_the_start = false;  // at the first batch asked: maybe at smaller ones too
};

/// A way to recompute, at the largest batch (or input) of a mode.
struct FrontierPoint {
  Recompute recompute;
  SweepPoint point;
  bool optimal = false;  // it fits, and no other that fits takes no more bytes and no more time
};

struct Sweep {
  std::vector<SweepPoint> points;             // mode by mode, in the order of the batches or inputs
  std::vector<Decomposition> decompositions;  // by mode; empty for a sweep over inputs
  /// Mode by mode, from the least time to the most; empty unless asked for.
  std::vector<FrontierPoint> frontier;
};

struct SweepOptions {
  Settings settings;
  std::optional<std::int64_t> micro_batch;
  std::vector<std::int64_t> batches;  // ascending; one when `inputs` are swept
  std::vector<std::int64_t> inputs;   // heights (= widths) of square images; empty: the spec's
  std::vector<GradientMode> modes;
  bool real = false;
  /// Requested bytes alone: no strategy places anything, so that `saved`, `granted`, `footprint`
  /// and `reserved` stay 0 and every point fits. In a fraction of the time.
  bool peaks_alone = false;
  Device* device = nullptr;  // that computes for `real`; null: this processor
  bool frontier = false;     // with gradients alone
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::size_t done, std::size_t of)> progress;

  /// The settings of one point.
  Settings at(GradientMode mode, std::int64_t batch) const {
    return at_batch(in_mode(settings, mode), batch, micro_batch);
  }
};

/// The model, with another height and width where one is given. Throws Error for sizes that the
/// model cannot have.
using ModelSource = std::function<Model(std::optional<std::int64_t> size)>;

/// Throws Interrupted, and what loading the unchanged model throws; a point that cannot be planned
/// or doesn't fit says so itself.
Sweep sweep(const ModelSource& model, const SweepOptions& options);

/// The pieces of points of one mode, ascending in the batch.
Decomposition decompose(const std::vector<SweepPoint>& points, const SweepOptions& options);

}  // namespace arenagrad
