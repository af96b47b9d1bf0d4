#include "layers/common.h"

namespace arenagrad {
namespace {

/// max(x, 0), and min(.., ceiling) where there is a ceiling (0: none).
class Relu final : public Layer {
 public:
  Relu(std::string_view op, double ceiling) : op_(op), ceiling_(ceiling) {}

  std::string_view op() const override { return op_; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(op_, inputs, 1);
    return {.output = inputs[0], .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    const bool from_input = reads_input(situation.policy);
    needs.forward_in_place = !from_input;
    if (!situation.differentiates()) return needs;
    needs.reads_inputs[0] = from_input;
    needs.reads_output = !from_input;
    needs.backward_in_place = true;
    return needs;
  }

  void forward(ForwardContext& context) const override {
    context.backend().relu_forward(ceiling_, context.input(0), context.output());
  }

  void backward(BackwardContext& context) const override {
    const GradientTarget dx = context.input_gradient(0);
    if (!dx) return;
    // 0 < x < ceiling and 0 < y < ceiling are the same condition.
    const bool from_input = context.needs().reads_inputs[0];
    context.backend().relu_backward(ceiling_, from_input ? context.input(0) : context.output(),
                                    context.output_gradient(), dx.tensor, dx.write);
  }

 private:
  /// PyTorch keeps relu's result, but of relu6 (its hardtanh) the input.
  bool reads_input(SavedPolicy policy) const {
    return policy == SavedPolicy::pytorch && ceiling_ > 0;
  }

  std::string_view op_;
  double ceiling_;
};

}  // namespace

std::unique_ptr<Layer> relu() { return std::make_unique<Relu>("relu", 0); }
std::unique_ptr<Layer> relu6() { return std::make_unique<Relu>("relu6", 6); }

}  // namespace arenagrad
