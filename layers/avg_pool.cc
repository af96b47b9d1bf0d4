#include "layers/averaging.h"
#include "layers/window.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "avg_pool";

class AvgPool final : public AveragingLayer {
 public:
  explicit AvgPool(const PoolSpec& spec) : spec_(spec) { check_pool(kOp, spec); }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    return {.output = window_output(kOp, spec_.window, spec_.ceil_mode, inputs[0], inputs[0][0]),
            .parameters = {},
            .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    needs.keeps_inputs[0] = situation.differentiates() && situation.policy == SavedPolicy::pytorch;
    return needs;
  }

 private:
  PoolProblem problem(std::int64_t batch, const Shape& input, const Shape& output,
                      DType dtype) const override {
    return pool_problem(spec_, batch, input, output, dtype);
  }

  PoolSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> avg_pool(const PoolSpec& spec) { return std::make_unique<AvgPool>(spec); }

}  // namespace arenagrad
