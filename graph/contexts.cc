#include "graph/contexts.h"

namespace arenagrad {
namespace {

/// The part that both passes share, for either interface.
template <class Interface>
class Context : public Interface {
 public:
  explicit Context(const ExecView& view)
      : v_(view),
        node_(view.tape.node(view.exec.node)),
        needs_(view.program.needs[view.exec.needs]) {}

  Backend& backend() override { return v_.backend; }
  std::int64_t batch() const override { return v_.exec.samples; }
  RunMode mode() const override { return v_.exec.run; }
  DType dtype() const override { return v_.program.options.dtype; }
  const Needs& needs() const override { return needs_; }
  const Shape& input_shape(std::size_t i) const override {
    check_contract(i < node_.inputs.size(), "input out of range");
    return v_.tape.tensor(node_.inputs[i]).shape;
  }
  const Shape& output_shape() const override { return v_.tape.tensor(node_.output).shape; }

  ConstTensor input(std::size_t i) override {
    const Operand& operand = require(Role::input, i, "an undeclared input was read");
    return view(operand, shape_of(node_.inputs[i]), dtype_of_tensor(node_.inputs[i]));
  }
  ConstTensor parameter(std::size_t i) override {
    const Operand& operand = require(Role::parameter, i, "an undeclared parameter was read");
    return view(operand, v_.tape.parameter(node_.parameters[i]).shape, dtype());
  }
  Workspace workspace() override {
    const Operand* operand = find(Role::workspace, 0);
    if (operand == nullptr) return {};
    return {v_.buffers.address(operand->buffer), v_.program.buffer(operand->buffer).bytes};
  }
  RandomStream dropout_stream() const override {
    return {.seed = v_.seed,
            .purpose = RandomPurpose::dropout,
            .node = static_cast<std::uint32_t>(v_.exec.node),
            .step = static_cast<std::uint32_t>(v_.step),
            .first_sample = v_.exec.first_sample};
  }

 protected:
  const Operand* find(Role role, std::size_t slot) const {
    for (const Operand& operand : v_.program.operands_of(v_.exec)) {
      if (operand.role == role && operand.slot == slot) return &operand;
    }
    return nullptr;
  }
  const Operand& require(Role role, std::size_t slot, const char* what) const {
    const Operand* operand = find(role, slot);
    check_contract(operand != nullptr, what);
    return *operand;
  }
  Tensor view(const Operand& operand, const Shape& shape, DType dtype) const {
    return {v_.buffers.address(operand.buffer), shape, dtype, v_.program.layout};
  }
  /// Of a tape tensor in this micro-batch.
  Shape shape_of(TensorId id) const {
    const TapeTensor& tensor = v_.tape.tensor(id);
    const bool is_loss = tensor.producer == v_.exec.node && node_.layer->is_loss();
    return is_loss ? Shape{1} : tensor.shape.with_batch(v_.exec.samples);
  }
  DType dtype_of_tensor(TensorId id) const {
    return v_.tape.tensor(id).is_labels ? DType::i64 : dtype();
  }
  Tensor output_tensor(const char* what) const {
    return view(require(Role::output, 0, what), shape_of(node_.output), dtype());
  }
  Tensor stash_tensor(std::size_t i, const char* what) const {
    const Operand& operand = require(Role::stash, i, what);
    const StashSpec& spec = needs_.stashes[i];
    return view(operand, spec.shape, spec.dtype);
  }
  Tensor state_tensor(std::size_t i) const {
    const Operand& operand = require(Role::state, i, "an undeclared state was touched");
    const TapeState& state = v_.tape.state(node_.states[i]);
    return view(operand, state.shape, state.dtype.value_or(v_.program.options.dtype));
  }

  const ExecView& v_;
  const TapeNode& node_;
  const Needs& needs_;
};

class Forward final : public Context<ForwardContext> {
 public:
  using Context::Context;
  Tensor output() override { return output_tensor("forward without an output"); }
  bool saves() const override { return v_.exec.saves; }
  Tensor stash(std::size_t i) override {
    if (!v_.exec.saves) return {};
    return stash_tensor(i, "an undeclared stash was written");
  }
  Tensor state(std::size_t i) override { return state_tensor(i); }
  bool updates_state() const override { return v_.exec.updates_state; }
  std::optional<double> momentum_override() const override {
    if (v_.exec.calibrates) return 1.0;
    return std::nullopt;
  }
};

class Backward final : public Context<BackwardContext> {
 public:
  using Context::Context;
  ConstTensor output() override { return output_tensor("backward reads an output it didn't save"); }
  ConstTensor stash(std::size_t i) override {
    return stash_tensor(i, "an undeclared stash was read");
  }
  ConstTensor state(std::size_t i) override { return state_tensor(i); }
  ConstTensor output_gradient() override {
    const Operand* operand = find(Role::output_gradient, 0);
    if (operand == nullptr) return {};
    return view(*operand, shape_of(node_.output), dtype());
  }
  double seed() const override { return v_.exec.weight; }
  GradientTarget input_gradient(std::size_t i) override {
    const Operand* operand = find(Role::input_gradient, i);
    if (operand == nullptr) return {};
    return {view(*operand, shape_of(node_.inputs[i]), dtype()), operand->write};
  }
  GradientTarget parameter_gradient(std::size_t i) override {
    const Operand* operand = find(Role::parameter_gradient, i);
    if (operand == nullptr) return {};
    return {view(*operand, v_.tape.parameter(node_.parameters[i]).shape, dtype()), operand->write};
  }
};

}  // namespace

void run_forward(const ExecView& view) {
  Forward context(view);
  view.tape.node(view.exec.node).layer->forward(context);
}

void run_backward(const ExecView& view) {
  Backward context(view);
  view.tape.node(view.exec.node).layer->backward(context);
}

}  // namespace arenagrad
