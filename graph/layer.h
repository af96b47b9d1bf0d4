// The contract of a layer: it declares before it runs, and at run time it gets exactly what it
// declared. A layer is immutable; it owns no tensor and no memory.
//
// Life of a layer: `signature` once, when a tape records it (shapes per sample); `needs` whenever a
// program is planned (a batch, a mode, a policy, a device); `forward` and `backward` when the
// program runs. Every layer has one output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "kernels/profile.h"
#include "kernels/tensor.h"

namespace arenagrad {

enum class SavedPolicy : std::uint8_t { lean, pytorch };
/// train: batch statistics, dropout, backward. eval: running statistics, no dropout, backward all
/// the same. no_grad: as eval, forward alone.
enum class RunMode : std::uint8_t { train, eval, no_grad };

/// How a parameter starts. `scale`: the bound of a uniform, the standard deviation of a normal, the
/// value of a constant.
struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal };
  Kind kind = Kind::constant;
  double scale = 0;
};

struct ParameterSpec {
  std::string name;  // "weight", "bias"
  Shape shape;
  Initializer init;
};

/// Model state: kept between steps, changed by forward, no gradient (running statistics).
struct StateSpec {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;  // none: the run's own floating type
  double initial;
};

/// What a layer is, found from the shapes of its inputs per sample.
struct Signature {
  Shape output;  // per sample
  std::vector<ParameterSpec> parameters;
  std::vector<StateSpec> states;
  std::int64_t multiply_adds = 0;  // per sample; convolution and linear, bias not counted
};

/// What a program is planned for, as a layer sees it.
struct Situation {
  std::int64_t batch;             // samples in this micro-batch
  std::span<const Shape> inputs;  // per sample
  Shape output;                   // per sample
  DType dtype;                    // floating type of the run
  RunMode mode;
  SavedPolicy policy;
  const Profile& profile;
  std::vector<bool> input_needs_gradient;  // by input; false for samples and labels

  bool training() const { return mode == RunMode::train; }
  bool differentiates() const { return mode != RunMode::no_grad; }
};

/// A buffer made in forward for backward alone.
struct StashSpec {
  std::string_view name;
  Shape shape;  // whole tensor, batch included where it has one
  DType dtype;
  bool per_sample;               // grows with the batch (dimension 0 is the sample)
  bool replaces_input0 = false;  // wanted in the memory of input 0, which dies then
};

/// What running a layer in a situation takes. Everything not named here is refused at run time.
struct Needs {
  /// The output is input 0 itself, seen in another shape; forward and backward are never called and
  /// the gradient passes through (flatten, dropout in eval mode).
  bool alias = false;
  /// Backward hands its output's gradient, unchanged, to every input and is never called (add).
  bool gradient_passes_through = false;
  /// The output may be written over input 0 (or over input 1, when only that one is free).
  bool forward_in_place = false;
  /// Input 0's gradient may be written over the output's gradient.
  bool backward_in_place = false;
  /// Gradients can be added to what is there. If not, the planner adds a temporary and a sum.
  bool accumulates = true;
  /// False: samples of a batch influence each other in this situation (batch norm in train mode).
  bool samples_independent = true;

  /// Values that backward reads, by input; and the output.
  std::vector<bool> reads_inputs;
  bool reads_output = false;
  /// Kept until this layer's backward because the policy keeps them, though no kernel reads them.
  std::vector<bool> keeps_inputs;

  std::vector<StashSpec> stashes;
  std::size_t forward_workspace = 0;   // bytes
  std::size_t backward_workspace = 0;  // bytes, the largest of backward's calls
  /// The same for calls that add to an input's, or to a parameter's, gradient: a convolution may
  /// need more for that.
  std::size_t add_to_input_workspace = 0, add_to_parameter_workspace = 0;
  /// Of a convolution; kNoEngine for passes that never run.
  std::int64_t forward_engine = kNoEngine, backward_data_engine = kNoEngine,
               backward_filter_engine = kNoEngine;
};

/// What both passes can reach. Accessors throw ContractError for what was not declared. Tensors
/// carry the micro-batch as dimension 0.
class PassContext {
 public:
  virtual ~PassContext() = default;
  virtual Backend& backend() = 0;
  virtual std::int64_t batch() const = 0;
  virtual RunMode mode() const = 0;
  virtual DType dtype() const = 0;
  virtual const Needs& needs() const = 0;
  virtual const Shape& input_shape(std::size_t i) const = 0;  // per sample, always there
  virtual const Shape& output_shape() const = 0;              // per sample, always there
  virtual ConstTensor input(std::size_t i) = 0;
  virtual ConstTensor parameter(std::size_t i) = 0;
  virtual Workspace workspace() = 0;
  virtual RandomStream dropout_stream() const = 0;
};

class ForwardContext : public PassContext {
 public:
  virtual Tensor output() = 0;
  /// False in a pass that records nothing (no-grad, calibration, a first pass): stashes are absent.
  virtual bool saves() const = 0;
  /// An empty tensor when the pass saves nothing.
  virtual Tensor stash(std::size_t i) = 0;
  virtual Tensor state(std::size_t i) = 0;
  /// Whether running statistics are to be updated, and with which momentum (none: the layer's own).
  virtual bool updates_state() const = 0;
  virtual std::optional<double> momentum_override() const = 0;
};

struct GradientTarget {
  Tensor tensor;  // empty: not wanted
  Write write = Write::overwrite;
  explicit operator bool() const { return static_cast<bool>(tensor); }
};

class BackwardContext : public PassContext {
 public:
  virtual ConstTensor output() = 0;
  virtual ConstTensor stash(std::size_t i) = 0;
  virtual ConstTensor state(std::size_t i) = 0;
  /// Gradient of the output; empty for a loss, whose seed is `seed()`.
  virtual ConstTensor output_gradient() = 0;
  /// d(total loss)/d(this loss): the micro-batch's weight.
  virtual double seed() const = 0;
  virtual GradientTarget input_gradient(std::size_t i) = 0;
  virtual GradientTarget parameter_gradient(std::size_t i) = 0;
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// The spec's "op": "conv2d".
  virtual std::string_view op() const = 0;
  /// True for a loss: scalar output, takes labels as its last input, starts backward.
  virtual bool is_loss() const { return false; }
  /// A loss's reduction: true when its value is a mean over the batch, false for a sum.
  virtual bool loss_is_mean() const { return true; }
  /// Throws ShapeError when the inputs don't fit, showing both sides.
  /// A loss that is no sum over the samples: a batch's is not made of its parts'.
  virtual bool couples_samples() const { return false; }
  virtual Signature signature(std::span<const Shape> inputs) const = 0;
  virtual Needs needs(const Situation& situation) const = 0;
  virtual void forward(ForwardContext& context) const = 0;
  virtual void backward(BackwardContext& context) const = 0;
};

}  // namespace arenagrad
