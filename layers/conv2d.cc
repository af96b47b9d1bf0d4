#include <algorithm>

#include "layers/common.h"
#include "layers/window.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "conv2d";

class Conv2d final : public Layer {
 public:
  explicit Conv2d(const Conv2dSpec& spec) : spec_(spec) {
    check_window(kOp, spec.window);
    require_argument(kOp, "out_channels", spec.out_channels, 1);
    require_argument(kOp, "groups", spec.groups, 1);
    if (spec.out_channels % spec.groups != 0)
      throw Error("conv2d: expected out_channels to be a multiple of groups, got " +
                  std::to_string(spec.out_channels) + " out_channels and " +
                  std::to_string(spec.groups) + " groups");
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    const Shape output =
        window_output(kOp, spec_.window, /*ceil_mode=*/false, inputs[0], spec_.out_channels);
    const std::int64_t in_channels = inputs[0][0];
    if (in_channels % spec_.groups != 0)
      throw ShapeError("conv2d: expected input channels that are a multiple of groups, got " +
                       std::to_string(in_channels) + " channels (input " + inputs[0].text() +
                       ") and " + std::to_string(spec_.groups) + " groups");
    const Shape weight{spec_.out_channels, in_channels / spec_.groups, spec_.window.kernel[0],
                       spec_.window.kernel[1]};
    Signature signature{.output = output, .parameters = {}, .states = {}};
    signature.parameters.push_back({"weight", weight, weight_initializer(spec_.init, weight)});
    if (spec_.bias)
      signature.parameters.push_back(
          {"bias", Shape{spec_.out_channels}, bias_initializer(spec_.init, weight)});
    signature.multiply_adds =
        checked_product(output.elements(), weight.elements() / spec_.out_channels);
    return signature;
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    const KernelPlanner& kernels = *situation.profile.kernels;
    const ConvProblem conv =
        problem(situation.batch, situation.inputs[0], situation.output, situation.dtype);

    const ConvChoice forward = kernels.convolution(conv, ConvPass::forward, Write::overwrite);
    needs.forward_engine = forward.engine;
    needs.forward_workspace = forward.workspace;
    if (!situation.differentiates()) return needs;

    needs.reads_inputs[0] = true;
    needs.backward_filter_engine = plan_backward(kernels, conv, ConvPass::backward_filter, needs,
                                                 needs.add_to_parameter_workspace);
    if (situation.input_needs_gradient[0])
      needs.backward_data_engine = plan_backward(kernels, conv, ConvPass::backward_data, needs,
                                                 needs.add_to_input_workspace);
    return needs;
  }

  void forward(ForwardContext& context) const override {
    const ConstTensor bias = spec_.bias ? context.parameter(1) : ConstTensor{};
    context.backend().conv_forward(problem_of(context), context.needs().forward_engine,
                                   context.input(0), context.parameter(0), bias, context.output(),
                                   scratch(context, context.needs().forward_workspace));
  }

  void backward(BackwardContext& context) const override {
    const ConvProblem conv = problem_of(context);
    const Needs& needs = context.needs();
    const Workspace workspace =
        scratch(context, std::max({needs.backward_workspace, needs.add_to_input_workspace,
                                   needs.add_to_parameter_workspace}));
    const ConstTensor dy = context.output_gradient();
    Backend& backend = context.backend();
    if (spec_.bias)
      if (const GradientTarget db = context.parameter_gradient(1))
        backend.bias_gradient(dy, db.tensor, db.write);
    if (const GradientTarget dw = context.parameter_gradient(0))
      backend.conv_backward_filter(conv, needs.backward_filter_engine, context.input(0), dy,
                                   dw.tensor, dw.write, workspace);
    if (const GradientTarget dx = context.input_gradient(0))
      backend.conv_backward_data(conv, needs.backward_data_engine, dy, context.parameter(0),
                                 dx.tensor, dx.write, workspace);
  }

 private:
  /// The engine's number; adding is left to the planner where there is none that adds.
  static std::int64_t plan_backward(const KernelPlanner& kernels, const ConvProblem& conv,
                                    ConvPass pass, Needs& needs, std::size_t& add_workspace) {
    const ConvChoice overwrite = kernels.convolution(conv, pass, Write::overwrite);
    const ConvChoice accumulate = kernels.convolution(conv, pass, Write::accumulate);
    needs.backward_workspace = std::max(needs.backward_workspace, overwrite.workspace);
    if (accumulate.engine == overwrite.engine)
      add_workspace = accumulate.workspace;
    else
      needs.accumulates = false;
    return overwrite.engine;
  }

  ConvProblem problem(std::int64_t batch, const Shape& input, const Shape& output,
                      DType dtype) const {
    const Window& window = spec_.window;
    return {.batch = batch,
            .in_channels = input[0],
            .in_h = input[1],
            .in_w = input[2],
            .out_channels = spec_.out_channels,
            .kernel_h = window.kernel[0],
            .kernel_w = window.kernel[1],
            .stride_h = window.stride[0],
            .stride_w = window.stride[1],
            .pad_h = window.padding[0],
            .pad_w = window.padding[1],
            .dilation_h = window.dilation[0],
            .dilation_w = window.dilation[1],
            .groups = spec_.groups,
            .out_h = output[1],
            .out_w = output[2],
            .dtype = dtype};
  }
  ConvProblem problem_of(const PassContext& context) const {
    return problem(context.batch(), context.input_shape(0), context.output_shape(),
                   context.dtype());
  }

  Conv2dSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> conv2d(const Conv2dSpec& spec) { return std::make_unique<Conv2d>(spec); }

}  // namespace arenagrad
