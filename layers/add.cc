#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "add";

class Add final : public Layer {
 public:
  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_at_least_two(kOp, inputs);
    for (const Shape& input : inputs)
      if (input != inputs[0])
        throw ShapeError("add: expected inputs of one shape, got " + shapes_text(inputs));
    return {.output = inputs[0], .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    needs.gradient_passes_through = true;
    // With more than two, a third input may be the very tensor that the first sum went over.
    needs.forward_in_place = situation.inputs.size() == 2;
    return needs;
  }

  void forward(ForwardContext& context) const override {
    Backend& backend = context.backend();
    backend.sum(context.input(0), context.input(1), context.output());
    for (std::size_t i = 2; i < input_count(context); ++i)
      backend.add(context.input(i), context.output(), Write::accumulate);
  }

  void backward(BackwardContext&) const override {
    throw ContractError("add has no backward: the gradient passes through");
  }
};

}  // namespace

std::unique_ptr<Layer> add() { return std::make_unique<Add>(); }

}  // namespace arenagrad
