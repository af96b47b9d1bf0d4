#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "local_response_norm";

class LocalResponseNorm final : public Layer {
 public:
  explicit LocalResponseNorm(const LrnSpec& spec) : spec_(spec) {
    require_argument(kOp, "size", spec.size, 1);
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    if (inputs[0].rank() < 2)
      throw ShapeError(
          "local_response_norm: expected channels and at least one more dimension per sample, "
          "got " +
          inputs[0].text());
    return {.output = inputs[0], .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    if (!situation.differentiates()) return needs;
    needs.reads_inputs[0] = true;
    const Shape& sample = situation.inputs[0];
    const auto stash = [&](std::string_view name, const Shape& shape) {
      needs.stashes.push_back(
          {name, shape.with_batch(situation.batch), situation.dtype, /*per_sample=*/true});
    };
    stash("scale", sample);
    if (situation.policy == SavedPolicy::pytorch) {
      // What PyTorch's chain pad, average, power, divide keeps besides; no kernel here uses them.
      stash("padded_squares", Shape{sample[0] + spec_.size - 1, spatial_size(sample)});
      stash("scale_to_beta", sample);
    }
    return needs;
  }

  void forward(ForwardContext& context) const override {
    context.backend().lrn_forward(problem_of(context), context.input(0), stash_if_saved(context, 0),
                                  context.output());
  }

  void backward(BackwardContext& context) const override {
    if (const GradientTarget dx = context.input_gradient(0))
      context.backend().lrn_backward(problem_of(context), context.input(0), context.stash(0),
                                     context.output_gradient(), dx.tensor, dx.write);
  }

 private:
  LrnProblem problem_of(const PassContext& context) const {
    const Shape& sample = context.input_shape(0);
    return {.batch = context.batch(),
            .channels = sample[0],
            .spatial = spatial_size(sample),
            .size = spec_.size,
            .alpha = spec_.alpha,
            .beta = spec_.beta,
            .k = spec_.k,
            .dtype = context.dtype()};
  }

  LrnSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> local_response_norm(const LrnSpec& spec) {
  return std::make_unique<LocalResponseNorm>(spec);
}

}  // namespace arenagrad
