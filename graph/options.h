// Everything besides the tape and the device that decides a program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/layer.h"

namespace arenagrad {

/// A step's N samples in micro-batches of n; the last one may be smaller. Requires 1 <= n <= N.
struct Batching {
  std::int64_t batch = 1;
  std::int64_t micro_batch = 1;
  std::int64_t count() const { return (batch + micro_batch - 1) / micro_batch; }
  std::int64_t samples(std::int64_t k) const {
    return k + 1 < count() ? micro_batch : batch - k * micro_batch;
  }
};

/// full_batch: one forward, one backward on N. accumulated_graph: every micro-batch's forward is
/// recorded, then one backward. per_step: backward after each forward, gradients added in place.
/// two_pass: a first pass that records nothing gathers the network's outputs, the loss is taken
/// over all of them, and a second pass runs per step with its gradient: exact for a loss that
/// couples samples, in a step's memory, for one more forward.
enum class GradientMode : std::uint8_t { full_batch, accumulated_graph, per_step, two_pass };

inline constexpr GradientMode kGradientModes[] = {GradientMode::full_batch,
                                                  GradientMode::accumulated_graph,
                                                  GradientMode::per_step, GradientMode::two_pass};

/// Whether each micro-batch's backward follows its forward.
constexpr bool steps_alone(GradientMode mode) {
  return mode == GradientMode::per_step || mode == GradientMode::two_pass;
}

/// Which stretches of the network keep only what enters them and run forward again in backward.
/// The network is cut where a single tensor passes: for `square_root`, into about as many stretches
/// as the root of such places; for `every`, at each `every`-th of them; for `before`, in front of
/// the layers named, wherever they are. The last stretch runs once.
struct Recompute {
  enum class Kind : std::uint8_t { none, square_root, every, before };
  Kind kind = Kind::none;
  std::int64_t every = 1;
  std::vector<std::string> layers;
};

struct OptimizerSpec {
  enum class Kind : std::uint8_t { none, sgd, adam, adamw };
  Kind kind = Kind::none;
  double learning_rate = 0.01;
  double momentum = 0;  // sgd; state only when not 0
  bool nesterov = false;
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // adam, adamw
  /// Buffers of the parameter's size that it keeps for each parameter.
  int states_per_parameter() const {
    if (kind == Kind::adam || kind == Kind::adamw) return 2;
    return kind == Kind::sgd && momentum != 0 ? 1 : 0;
  }
};

/// "none", "sqrt", "every:2", "layer3,layer4": as a command line has it.
std::string text(const Recompute& recompute);

struct PlanOptions {
  Batching batching;
  GradientMode mode = GradientMode::full_batch;
  SavedPolicy policy = SavedPolicy::lean;
  OptimizerSpec optimizer;
  RunMode run = RunMode::train;
  DType dtype = DType::f32;
  /// Set running statistics by one train-mode forward over the first micro-batch, in setup.
  bool calibrate = false;
  Recompute recompute;
  /// Also compute gradients of the samples; they live to the end of the micro-step.
  bool input_gradients = false;
};

constexpr std::string_view name(GradientMode mode) {
  switch (mode) {
    case GradientMode::full_batch: return "full-batch";
    case GradientMode::accumulated_graph: return "accumulated-graph";
    case GradientMode::per_step: return "per-step";
    case GradientMode::two_pass: return "two-pass";
  }
  return "?";
}
constexpr std::string_view name(SavedPolicy policy) {
  return policy == SavedPolicy::lean ? "lean" : "pytorch";
}
constexpr std::string_view name(RunMode mode) {
  switch (mode) {
    case RunMode::train: return "train";
    case RunMode::eval: return "eval";
    case RunMode::no_grad: return "no-grad";
  }
  return "?";
}
constexpr std::string_view name(OptimizerSpec::Kind kind) {
  switch (kind) {
    case OptimizerSpec::Kind::none: return "none";
    case OptimizerSpec::Kind::sgd: return "sgd";
    case OptimizerSpec::Kind::adam: return "adam";
    case OptimizerSpec::Kind::adamw: return "adamw";
  }
  return "?";
}

}  // namespace arenagrad
