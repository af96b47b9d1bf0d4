// The same gradient three ways: each mode is run and measured, then compared with each other mode
// and with an f64 run.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/does_not_fit.h"
#include "experiments/gradients.h"
#include "experiments/measurement.h"
#include "experiments/verdict.h"
#include "kernels/device.h"

namespace arenagrad {

/// One mode, measured, or why it could not be.
struct ModeResult {
  GradientMode mode{};
  std::optional<Measurement> measurement;
  std::optional<OutOfMemoryReport> out_of_memory;  // it didn't fit the capacity
  bool refused = false;                            // it would not give the network's gradient
  std::string error;                               // what() of whatever kept it from running
};

/// Largest distance between two loss curves, relative to the larger loss.
struct CurveDifference {
  double max_relative = 0;
  std::int64_t step = 0;  // 1-based, where it is
};

struct PairResult {
  GradientMode a{}, b{};
  Difference gradient;  // of the first step
  Difference states;    // running statistics after it
  CurveDifference losses;
  std::uint64_t flips = 0;
  std::optional<double> rel_l2_f64;  // when the verdict needed it
  std::string no_rerun;              // why it is missing although it was needed
  bool same_computation = true;
  Verdict verdict{};
};

struct ReferenceResult {
  GradientMode mode{};            // f32 run
  GradientMode reference_mode{};  // f64 run
  Difference gradient;
  CurveDifference losses;
  std::uint64_t flips = 0;
};

struct Comparison {
  Settings settings;
  std::vector<ModeResult> modes;
  std::vector<PairResult> pairs;
  std::vector<ReferenceResult> against_f64;
  std::string no_reference;                 // why against_f64 is empty
  std::vector<std::string> coupled_layers;  // that make samples of a batch influence each other
  std::optional<GradientMode> closest;      // to the f64 run; none where two are, or only one ran
  std::size_t reference_bytes = 0;  // arena of the f64 runs, the largest; in no mode's books

  /// A pair is different, or a run's books did not balance.
  bool failed() const;
  bool everything_fitted() const;
};

/// The modes with the least rel_l2 among the finite ones: several when they tie.
std::vector<GradientMode> nearest(const std::vector<ReferenceResult>& against_f64);

/// The three modes; two-pass as well where the loss couples samples, because per-step is refused.
std::vector<GradientMode> modes_to_compare(const Model& model);

enum class Reference : std::uint8_t { automatic, f64, none };

struct CompareOptions {
  /// What computes, made for the profile that the settings plan for; null: this processor.
  Device* device = nullptr;
  ArenaKind arena = ArenaKind::growing;
  std::vector<GradientMode> modes;  // none: modes_to_compare
  Reference reference = Reference::automatic;
  Feed* feed = nullptr;        // null: noise
  std::size_t host_bytes = 0;  // held by the caller (a data set)
  const std::atomic<bool>* interrupted = nullptr;
  /// Called before each run with what is about to run, and after each of its steps.
  std::function<void(const std::string& what, std::int64_t step)> progress;
};

/// Throws Error for settings that cannot be compared; a mode that doesn't fit is part of the
/// result.
Comparison compare(const Model& model, const Settings& settings, const CompareOptions& options);

/// Multiply-adds of a run: forward, and two like it backward. 2^63 - 1 when beyond 64 bits.
std::int64_t estimated_cost(const Tape& tape, std::int64_t batch, std::int64_t steps);

/// `Reference::automatic` compares with f64 up to this cost: seconds on a small machine.
inline constexpr std::int64_t kSmallCost = 500'000'000'000;

CurveDifference curve_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace arenagrad
