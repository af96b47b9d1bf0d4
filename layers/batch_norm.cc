#include "allocator/request.h"
#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "batch_norm";

enum Parameter : std::size_t { weight, bias };
enum State : std::size_t { running_mean, running_var, num_batches_tracked };
enum Stash : std::size_t { mean, inverse_std };

class BatchNorm final : public Layer {
 public:
  explicit BatchNorm(const BatchNormSpec& spec) : spec_(spec) {
    if (!(spec.eps >= 0))
      throw Error("batch_norm: expected eps of at least 0, got " + std::to_string(spec.eps));
    if (!(spec.momentum >= 0 && spec.momentum <= 1))
      throw Error("batch_norm: expected momentum from 0 to 1, got " +
                  std::to_string(spec.momentum));
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    if (inputs[0].rank() == 0)
      throw ShapeError("batch_norm: expected channels as first dimension per sample, got a scalar");
    const Shape channels{inputs[0][0]};
    const auto constant = [](double value) {
      return Initializer{Initializer::Kind::constant, value};
    };
    return {.output = inputs[0],
            .parameters = {{"weight", channels, constant(1)}, {"bias", channels, constant(0)}},
            .states = {{"running_mean", channels, std::nullopt, 0},
                       {"running_var", channels, std::nullopt, 1},
                       {"num_batches_tracked", Shape{}, DType::i64, 0}}};
  }

  Needs needs(const Situation& situation) const override {
    const Shape& input = situation.inputs[0];
    const KernelPlanner& kernels = *situation.profile.kernels;
    const BatchNormProblem norm = problem(situation.batch, input, situation.dtype, spec_.momentum);
    if (situation.training() && norm.batch * norm.spatial == 1)
      throw Error(
          "batch_norm: expected more than one value per channel in train mode, got 1 (batch 1, "
          "input " +
          input.text() + " per sample)");
    const std::int64_t elements = checked_product(situation.batch, input.elements());
    if (situation.training() && elements > kernels.most_batch_norm_elements())
      throw ShapeError(
          "batch_norm: expected at most " + std::to_string(kernels.most_batch_norm_elements()) +
          " elements in train mode on this device, got " + std::to_string(elements) + " (batch " +
          std::to_string(situation.batch) + ", input " + input.text() + " per sample)");

    Needs needs = needs_nothing(situation);
    needs.samples_independent = !situation.training();
    needs.forward_workspace = kernels.batch_norm_workspace(norm, /*backward=*/false);
    // A pass that saves nothing keeps the batch statistics here instead of in stashes.
    if (situation.training())
      needs.forward_workspace =
          round_up(needs.forward_workspace, size_of(situation.dtype)) + 2 * statistics_bytes(norm);
    needs.forward_in_place = !situation.differentiates() && situation.policy == SavedPolicy::lean;
    if (!situation.differentiates()) return needs;

    needs.reads_inputs[0] = true;
    needs.backward_in_place = true;
    needs.backward_workspace = kernels.batch_norm_workspace(norm, /*backward=*/true);
    if (situation.training())
      for (const std::string_view name : {"mean", "inverse_std"})
        needs.stashes.push_back(
            {name, Shape{norm.channels}, situation.dtype, /*per_sample=*/false});
    return needs;
  }

  void forward(ForwardContext& context) const override {
    Backend& backend = context.backend();
    const BatchNormProblem norm = problem(context.batch(), context.input_shape(0), context.dtype(),
                                          context.momentum_override().value_or(spec_.momentum));
    Workspace workspace = scratch(context, context.needs().forward_workspace);
    if (context.mode() != RunMode::train) {
      backend.batch_norm_eval(norm, context.input(0), context.parameter(weight),
                              context.parameter(bias), context.state(running_mean),
                              context.state(running_var), context.output(), workspace);
      return;
    }
    const Statistics statistics = split_statistics(context, norm, workspace);
    const bool updates = context.updates_state();
    backend.batch_norm_train(norm, context.input(0), context.parameter(weight),
                             context.parameter(bias),
                             updates ? context.state(running_mean) : Tensor{},
                             updates ? context.state(running_var) : Tensor{}, statistics.mean,
                             statistics.inverse_std, context.output(), workspace);
    if (updates) backend.increment(context.state(num_batches_tracked));
  }

  void backward(BackwardContext& context) const override {
    const BatchNormProblem norm =
        problem(context.batch(), context.input_shape(0), context.dtype(), spec_.momentum);
    const GradientTarget dx = context.input_gradient(0);
    const GradientTarget dweight = context.parameter_gradient(weight);
    const GradientTarget dbias = context.parameter_gradient(bias);
    check_contract(!dweight || !dbias || dweight.write == dbias.write,
                   "batch_norm's weight and bias gradients are written alike");
    const Write parameter_write = dweight ? dweight.write : dbias.write;
    const Workspace workspace = scratch(context, context.needs().backward_workspace);
    Backend& backend = context.backend();
    if (context.mode() == RunMode::train)
      backend.batch_norm_train_backward(norm, context.input(0), context.output_gradient(),
                                        context.parameter(weight), context.stash(mean),
                                        context.stash(inverse_std), dx.tensor, dx.write,
                                        dweight.tensor, dbias.tensor, parameter_write, workspace);
    else
      backend.batch_norm_eval_backward(norm, context.input(0), context.output_gradient(),
                                       context.parameter(weight), context.state(running_mean),
                                       context.state(running_var), dx.tensor, dx.write,
                                       dweight.tensor, dbias.tensor, parameter_write, workspace);
  }

 private:
  struct Statistics {
    Tensor mean, inverse_std;
  };

  static std::size_t statistics_bytes(const BatchNormProblem& norm) {
    return static_cast<std::size_t>(norm.channels) * size_of(norm.dtype);
  }

  /// The stashes; where there are none, the end of the workspace, which is cut off.
  static Statistics split_statistics(ForwardContext& context, const BatchNormProblem& norm,
                                     Workspace& workspace) {
    const std::size_t bytes = statistics_bytes(norm);
    workspace.bytes -= 2 * bytes;
    if (context.saves()) return {context.stash(mean), context.stash(inverse_std)};
    std::byte* const end = static_cast<std::byte*>(workspace.data) + workspace.bytes;
    return {{end, Shape{norm.channels}, norm.dtype},
            {end + bytes, Shape{norm.channels}, norm.dtype}};
  }

  BatchNormProblem problem(std::int64_t batch, const Shape& input, DType dtype,
                           double momentum) const {
    return {.batch = batch,
            .channels = input[0],
            .spatial = spatial_size(input),
            .dtype = dtype,
            .eps = spec_.eps,
            .momentum = momentum};
  }

  BatchNormSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> batch_norm(const BatchNormSpec& spec) {
  return std::make_unique<BatchNorm>(spec);
}

}  // namespace arenagrad
