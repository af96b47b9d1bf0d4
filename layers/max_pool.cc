#include "layers/common.h"
#include "layers/window.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "max_pool";

class MaxPool final : public Layer {
 public:
  explicit MaxPool(const PoolSpec& spec) : spec_(spec) {
    check_pool(kOp, spec);
    // A place in the window has to fit the index.
    require_argument(kOp, "kernel height times width", places(), 1);
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    return {.output = window_output(kOp, spec_.window, spec_.ceil_mode, inputs[0], inputs[0][0]),
            .parameters = {},
            .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    if (!situation.differentiates()) return needs;
    needs.keeps_inputs[0] = situation.policy == SavedPolicy::pytorch;
    needs.stashes.push_back({"index", situation.output.with_batch(situation.batch),
                             index_type(situation.policy), /*per_sample=*/true});
    return needs;
  }

  void forward(ForwardContext& context) const override {
    context.backend().max_pool_forward(problem_of(context), context.input(0), context.output(),
                                       stash_if_saved(context, 0));
  }

  void backward(BackwardContext& context) const override {
    if (const GradientTarget dx = context.input_gradient(0))
      context.backend().max_pool_backward(problem_of(context), context.stash(0),
                                          context.output_gradient(), dx.tensor, dx.write);
  }

 private:
  std::int64_t places() const { return spec_.window.kernel[0] * spec_.window.kernel[1]; }

  /// Wide enough for a place in the window; PyTorch's place in the input plane is 64 bits.
  DType index_type(SavedPolicy policy) const {
    if (policy == SavedPolicy::pytorch) return DType::i64;
    return places() <= 256 ? DType::u8 : DType::i32;
  }

  PoolProblem problem_of(const PassContext& context) const {
    return pool_problem(spec_, context.batch(), context.input_shape(0), context.output_shape(),
                        context.dtype());
  }

  PoolSpec spec_;
};

}  // namespace

std::unique_ptr<Layer> max_pool(const PoolSpec& spec) { return std::make_unique<MaxPool>(spec); }

}  // namespace arenagrad
