#include "layers/averaging.h"
#include "layers/window.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "adaptive_avg_pool";

class AdaptiveAvgPool final : public AveragingLayer {
 public:
  explicit AdaptiveAvgPool(std::array<std::int64_t, 2> output) : output_(output) {
    for (const std::int64_t size : output) require_argument(kOp, "output size", size, 0);
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    const Shape& input = inputs[0];
    require_rank(kOp, input, 3, "CxHxW");
    const auto size = [&](std::size_t axis) {
      return output_[axis] == 0 ? input[axis + 1] : output_[axis];
    };
    return {.output = Shape{input[0], size(0), size(1)}, .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    const bool pytorch = situation.policy == SavedPolicy::pytorch;
    // Every bin one element: the output is the input. PyTorch makes a copy all the same.
    needs.alias = !pytorch && situation.output == situation.inputs[0];
    // To 1x1 it is a mean over the plane, of which PyTorch keeps the sizes alone.
    const bool is_mean = situation.output[1] == 1 && situation.output[2] == 1;
    needs.keeps_inputs[0] = situation.differentiates() && pytorch && !is_mean;
    return needs;
  }

 private:
  PoolProblem problem(std::int64_t batch, const Shape& input, const Shape& output,
                      DType dtype) const override {
    return adaptive_pool_problem(batch, input, output, dtype);
  }

  std::array<std::int64_t, 2> output_;
};

}  // namespace

std::unique_ptr<Layer> adaptive_avg_pool(std::array<std::int64_t, 2> output) {
  return std::make_unique<AdaptiveAvgPool>(output);
}

}  // namespace arenagrad
