#include <algorithm>

#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "linear";

class Linear final : public Layer {
 public:
  explicit Linear(const LinearSpec& spec) : spec_(spec) {
    require_argument(kOp, "out_features", spec.out_features, 1);
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    if (inputs[0].rank() != 1)
      throw ShapeError("linear: expected one dimension per sample (put a flatten in front), got " +
                       inputs[0].text());
    const Shape weight{spec_.out_features, inputs[0][0]};
    Signature signature{.output = Shape{spec_.out_features}, .parameters = {}, .states = {}};
    signature.parameters.push_back({"weight", weight, weight_initializer(spec_.init, weight)});
    if (spec_.bias)
      signature.parameters.push_back(
          {"bias", Shape{spec_.out_features}, bias_initializer(spec_.init, weight)});
    signature.multiply_adds = weight.elements();
    return signature;
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    const KernelPlanner& kernels = *situation.profile.kernels;
    const LinearProblem linear = problem(situation.batch, situation.inputs[0], situation.dtype);
    needs.forward_workspace = kernels.linear_workspace(linear, ConvPass::forward);
    if (!situation.differentiates()) return needs;

    needs.reads_inputs[0] = true;
    needs.backward_workspace = kernels.linear_workspace(linear, ConvPass::backward_filter);
    if (situation.input_needs_gradient[0])
      needs.backward_workspace = std::max(
          needs.backward_workspace, kernels.linear_workspace(linear, ConvPass::backward_data));
    return needs;
  }

  void forward(ForwardContext& context) const override {
    const ConstTensor bias = spec_.bias ? context.parameter(1) : ConstTensor{};
    context.backend().linear_forward(problem_of(context), context.input(0), context.parameter(0),
                                     bias, context.output(),
                                     scratch(context, context.needs().forward_workspace));
  }

  void backward(BackwardContext& context) const override {
    const LinearProblem linear = problem_of(context);
    const Workspace workspace = scratch(context, context.needs().backward_workspace);
    const ConstTensor dy = context.output_gradient();
    Backend& backend = context.backend();
    if (spec_.bias)
      if (const GradientTarget db = context.parameter_gradient(1))
        backend.bias_gradient(dy, db.tensor, db.write);
    if (const GradientTarget dw = context.parameter_gradient(0))
      backend.linear_backward_weight(linear, context.input(0), dy, dw.tensor, dw.write, workspace);
    if (const GradientTarget dx = context.input_gradient(0))
      backend.linear_backward_data(linear, dy, context.parameter(0), dx.tensor, dx.write,
                                   workspace);
  }

 private:
  LinearProblem problem(std::int64_t batch, const Shape& input, DType dtype) const {
    return {.batch = batch,
            .in_features = input[0],
            .out_features = spec_.out_features,
            .dtype = dtype};
  }
  LinearProblem problem_of(const PassContext& context) const {
    return problem(context.batch(), context.input_shape(0), context.dtype());
  }

  LinearSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> linear(const LinearSpec& spec) { return std::make_unique<Linear>(spec); }

}  // namespace arenagrad
