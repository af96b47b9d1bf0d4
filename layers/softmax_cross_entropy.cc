#include "kernels/bodies/workspace.h"
#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "softmax_cross_entropy";

enum Input : std::size_t { logits, labels };
enum Stash : std::size_t { probabilities, total_weight };

class SoftmaxCrossEntropy final : public Layer {
 public:
  explicit SoftmaxCrossEntropy(Reduction reduction) : reduction_(reduction) {}

  std::string_view op() const override { return kOp; }
  bool is_loss() const override { return true; }
  bool loss_is_mean() const override { return reduction_ == Reduction::mean; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_loss_inputs(kOp, "logits", inputs);
    return {.output = Shape{}, .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    needs.forward_workspace = softmax_cross_entropy_workspace(
        problem(situation.batch, situation.inputs[logits], situation.dtype));
    if (!situation.differentiates()) return needs;
    needs.reads_inputs[labels] = true;
    const bool pytorch = situation.policy == SavedPolicy::pytorch;
    needs.stashes.push_back({.name = pytorch ? "log_probabilities" : "probabilities",
                             .shape = situation.inputs[logits].with_batch(situation.batch),
                             .dtype = situation.dtype,
                             .per_sample = true,
                             .replaces_input0 = !pytorch});
    if (pytorch)
      needs.stashes.push_back({"total_weight", Shape{}, situation.dtype, /*per_sample=*/false});
    return needs;
  }

  void forward(ForwardContext& context) const override {
    Backend& backend = context.backend();
    backend.softmax_cross_entropy_forward(
        problem(context.batch(), context.input_shape(logits), context.dtype()),
        sample_weight(context), context.input(logits), context.input(labels),
        stash_if_saved(context, probabilities), context.output(),
        scratch(context, context.needs().forward_workspace));
    if (const Tensor total = stash_if_saved(context, total_weight))
      backend.fill(total, static_cast<double>(context.batch()));
  }

  void backward(BackwardContext& context) const override {
    if (const GradientTarget dx = context.input_gradient(logits))
      context.backend().softmax_cross_entropy_backward(
          problem(context.batch(), context.input_shape(logits), context.dtype()),
          context.seed() * sample_weight(context), context.stash(probabilities),
          context.input(labels), dx.tensor, dx.write);
  }

 private:
  double sample_weight(const PassContext& context) const {
    return reduction_ == Reduction::mean ? 1 / static_cast<double>(context.batch()) : 1;
  }

  static SoftmaxCrossEntropyProblem problem(std::int64_t batch, const Shape& logits_shape,
                                            DType dtype) {
    return {.batch = batch, .classes = logits_shape[0], .dtype = dtype};
  }

  Reduction reduction_;
};

}  // namespace

std::unique_ptr<Layer> softmax_cross_entropy(Reduction reduction) {
  return std::make_unique<SoftmaxCrossEntropy>(reduction);
}

}  // namespace arenagrad
