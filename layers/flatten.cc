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
    needs.alias = true;
    return needs;
  }

  void forward(ForwardContext&) const override { throw ContractError("flatten is an alias"); }
  void backward(BackwardContext&) const override { throw ContractError("flatten is an alias"); }
};

}  // namespace

std::unique_ptr<Layer> flatten() { return std::make_unique<Flatten>(); }

}  // namespace arenagrad
