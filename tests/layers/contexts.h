// What a layer under test sees in its passes. Strict: what was not declared is refused.
#pragma once

#include <optional>
#include <vector>

#include "graph/layer.h"

namespace arenagrad::testing {

/// All that exists around one layer while it runs. Tensors without data are absent.
struct LayerBuffers {
  Backend* backend = nullptr;
  RandomStream dropout{};
  std::int64_t batch = 0;
  RunMode mode = RunMode::train;
  DType dtype = DType::f64;
  Needs needs;
  std::vector<Shape> input_shapes;
  Shape output_shape;

  std::vector<Tensor> inputs, parameters, states, stashes;
  Tensor output, output_gradient;
  std::vector<Tensor> input_gradients, parameter_gradients;
  Workspace workspace;

  bool saves = true, updates_state = false;
  std::optional<double> momentum;
  double seed = 1;
  Write write = Write::overwrite;
};

/// The declared item, or ContractError.
template <class T>
decltype(auto) declared(const std::vector<T>& items, std::size_t i, const char* what) {
  check_contract(i < items.size(), what);
  return (items[i]);
}

template <class Base>
class Pass : public Base {
 public:
  explicit Pass(const LayerBuffers& buffers) : b(buffers) {}

  Backend& backend() override { return *b.backend; }
  std::int64_t batch() const override { return b.batch; }
  RunMode mode() const override { return b.mode; }
  DType dtype() const override { return b.dtype; }
  const Needs& needs() const override { return b.needs; }
  const Shape& input_shape(std::size_t i) const override {
    return declared(b.input_shapes, i, "no such input");
  }
  const Shape& output_shape() const override { return b.output_shape; }
  ConstTensor parameter(std::size_t i) override {
    return declared(b.parameters, i, "no such parameter");
  }
  Workspace workspace() override {
    check_contract(b.workspace.bytes > 0, "workspace was not declared");
    return b.workspace;
  }
  RandomStream dropout_stream() const override { return b.dropout; }

 protected:
  const LayerBuffers& b;
};

class ForwardPass final : public Pass<ForwardContext> {
 public:
  using Pass::Pass;

  ConstTensor input(std::size_t i) override { return declared(b.inputs, i, "no such input"); }
  Tensor output() override { return b.output; }
  bool saves() const override { return b.saves; }
  Tensor stash(std::size_t i) override {
    check_contract(i < b.needs.stashes.size(), "stash was not declared");
    return b.saves ? b.stashes[i] : Tensor{};
  }
  Tensor state(std::size_t i) override { return declared(b.states, i, "no such state"); }
  bool updates_state() const override { return b.updates_state; }
  std::optional<double> momentum_override() const override { return b.momentum; }
};

class BackwardPass final : public Pass<BackwardContext> {
 public:
  using Pass::Pass;

  ConstTensor input(std::size_t i) override {
    check_contract(declared(b.needs.reads_inputs, i, "no such input"), "input was not declared");
    return b.inputs[i];
  }
  ConstTensor output() override {
    check_contract(b.needs.reads_output, "output was not declared");
    return b.output;
  }
  ConstTensor stash(std::size_t i) override {
    return declared(b.stashes, i, "stash was not declared");
  }
  ConstTensor state(std::size_t i) override { return declared(b.states, i, "no such state"); }
  ConstTensor output_gradient() override { return b.output_gradient; }
  double seed() const override { return b.seed; }
  GradientTarget input_gradient(std::size_t i) override {
    return {declared(b.input_gradients, i, "no such input"), b.write};
  }
  GradientTarget parameter_gradient(std::size_t i) override {
    return {declared(b.parameter_gradients, i, "no such parameter"), b.write};
  }
};

}  // namespace arenagrad::testing
