#include "layers/common.h"

namespace arenagrad {
namespace {

class Flatten final : public Layer {
 public:
  std::string_view op() const override { return "flatten"; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(op(), inputs, 1);
    return {.output = Shape{inputs[0].elements()}, .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    // With the channels innermost an image's elements are in another order than its features.
    const Shape& input = situation.inputs[0];
    needs.alias = situation.profile.layout == Layout::nchw || input.rank() != 3 || input[0] == 1 ||
                  spatial_size(input) == 1;
    return needs;
  }

  void forward(ForwardContext& context) const override {
    context.backend().add(context.input(0), context.output(), Write::overwrite);
  }
  void backward(BackwardContext& context) const override {
    if (const GradientTarget dx = context.input_gradient(0))
      context.backend().add(context.output_gradient(), dx.tensor, dx.write);
  }
};

}  // namespace

std::unique_ptr<Layer> flatten() { return std::make_unique<Flatten>(); }

}  // namespace arenagrad
