// Layers with nothing but a declaration: the planner's rules can be read off programs made of them.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "graph/tape.h"
#include "kernels/profile.h"

namespace arenagrad::toy {

/// Declares what it is told; computes nothing.
class Toy : public Layer {
 public:
  using Declare = std::function<Needs(const Situation&)>;
  explicit Toy(Declare declare, std::int64_t parameter_elements = 0, bool loss = false)
      : declare_(std::move(declare)), parameter_elements_(parameter_elements), loss_(loss) {}

  std::string_view op() const override { return "toy"; }
  bool is_loss() const override { return loss_; }
  Signature signature(std::span<const Shape> inputs) const override {
    Signature signature{.output = loss_ ? Shape{} : inputs[0]};
    if (parameter_elements_ > 0) {
      signature.parameters.push_back({"weight", Shape{parameter_elements_}, {}});
    }
    return signature;
  }
  Needs needs(const Situation& situation) const override { return declare_(situation); }
  void forward(ForwardContext&) const override {}
  void backward(BackwardContext&) const override {}

 private:
  Declare declare_;
  std::int64_t parameter_elements_;
  bool loss_;
};

inline std::unique_ptr<Layer> layer(Needs needs, std::int64_t parameter_elements = 0) {
  return std::make_unique<Toy>([needs](const Situation&) { return needs; }, parameter_elements);
}

/// Reads its input in backward and has a parameter of 5 elements, as a convolution does.
inline std::unique_ptr<Layer> weighted() { return layer({.reads_inputs = {true}}, 5); }
/// Reads its output in backward, writes in place both ways, as a relu does.
inline std::unique_ptr<Layer> rectifier() {
  return layer({.forward_in_place = true, .backward_in_place = true, .reads_output = true});
}
inline std::unique_ptr<Layer> addition() {
  return layer({.gradient_passes_through = true, .forward_in_place = true});
}
inline std::unique_ptr<Layer> view() { return layer({.alias = true}); }
/// Reads its first input and the labels.
inline std::unique_ptr<Layer> loss() {
  return std::make_unique<Toy>(
      [](const Situation&) {
        return Needs{.reads_inputs = {true, true}};
      },
      0, true);
}

/// A tape under construction: the last tensor is the chain's end.
struct Net {
  Tape tape;
  TensorId end;
  TensorId labels;

  /// Input of `elements` f32 values a sample.
  explicit Net(std::int64_t elements = 10) {
    end = tape.input("x", Shape{elements});
    labels = tape.labels("labels", 3);
  }
  TensorId then(std::string name, std::unique_ptr<Layer> layer) {
    return end = tape.record(std::move(name), std::move(layer), {{end}});
  }
  TensorId join(std::string name, std::unique_ptr<Layer> layer, TensorId a, TensorId b) {
    const TensorId inputs[] = {a, b};
    return end = tape.record(std::move(name), std::move(layer), inputs);
  }
  Tape finish() {
    join("loss", loss(), end, labels);
    return std::move(tape);
  }
};

/// Kernels without scratch.
class NoScratch final : public KernelPlanner {
 public:
  ConvChoice convolution(const ConvProblem&, ConvPass, Write) const override { return {0, 0}; }
  std::size_t linear_workspace(const LinearProblem&, ConvPass) const override { return 0; }
  std::size_t batch_norm_workspace(const BatchNormProblem&, bool) const override { return 0; }
};

inline Profile profile() {
  static const NoScratch kernels;
  return {.name = "toy", .kernels = &kernels};
}

}  // namespace arenagrad::toy
