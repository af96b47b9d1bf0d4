#include "kernels/bodies/workspace.h"
#include "layers/common.h"

namespace arenagrad {
namespace {

enum Input : std::size_t { outputs, labels };

constexpr std::string_view kOps[] = {"cross_entropy_of_mean_logits", "variance", "contrastive"};

class CoupledLossLayer final : public Layer {
 public:
  explicit CoupledLossLayer(const CoupledLossOptions& options) : options_(options) {}

  std::string_view op() const override { return kOps[static_cast<std::size_t>(options_.kind)]; }
  bool is_loss() const override { return true; }
  bool couples_samples() const override { return true; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_loss_inputs(op(), "outputs", inputs);
    return {.output = Shape{}, .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    needs.forward_workspace = coupled_loss_workspace(
        problem(situation.batch, situation.inputs[outputs], situation.dtype));
    if (!situation.differentiates()) return needs;
    needs.reads_inputs[outputs] = options_.kind != CoupledLoss::cross_entropy_of_mean_logits;
    needs.reads_inputs[labels] = options_.kind == CoupledLoss::contrastive;
    if (options_.kind != CoupledLoss::contrastive)
      needs.stashes.push_back({.name = "class_values",
                               .shape = situation.inputs[outputs],
                               .dtype = situation.dtype,
                               .per_sample = false});
    return needs;
  }

  void forward(ForwardContext& context) const override {
    context.backend().coupled_loss_forward(
        problem(context.batch(), context.input_shape(outputs), context.dtype()),
        context.input(outputs), context.input(labels),
        context.needs().stashes.empty() ? Tensor{} : stash_if_saved(context, 0), context.output(),
        scratch(context, context.needs().forward_workspace));
  }

  void backward(BackwardContext& context) const override {
    const GradientTarget dx = context.input_gradient(outputs);
    if (!dx) return;
    const Needs& needs = context.needs();
    context.backend().coupled_loss_backward(
        problem(context.batch(), context.input_shape(outputs), context.dtype()), context.seed(),
        needs.reads_inputs[outputs] ? context.input(outputs) : ConstTensor{},
        needs.stashes.empty() ? ConstTensor{} : context.stash(0),
        needs.reads_inputs[labels] ? context.input(labels) : ConstTensor{}, dx.tensor, dx.write);
  }

 private:
  CoupledLossProblem problem(std::int64_t batch, const Shape& shape, DType dtype) const {
    return {.kind = options_.kind,
            .batch = batch,
            .classes = shape[0],
            .margin = options_.margin,
            .dtype = dtype};
  }

  CoupledLossOptions options_;
};

}  // namespace

std::unique_ptr<Layer> coupled_loss(const CoupledLossOptions& options) {
  return std::make_unique<CoupledLossLayer>(options);
}

}  // namespace arenagrad
