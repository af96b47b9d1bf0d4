#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "dropout";

class Dropout final : public Layer {
 public:
  explicit Dropout(double p) : p_(p) {
    if (!(p >= 0 && p < 1))
      throw Error("dropout: expected p of at least 0 and below 1, got " + std::to_string(p));
  }

  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_inputs(kOp, inputs, 1);
    return {.output = inputs[0], .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override {
    Needs needs = needs_nothing(situation);
    if (!situation.training() || p_ == 0) {
      needs.alias = true;
      return needs;
    }
    needs.backward_in_place = true;
    if (situation.policy == SavedPolicy::lean) {
      // Nothing is kept: backward draws the same mask again.
      needs.forward_in_place = true;
      return needs;
    }
    const DType mask = situation.profile.dropout_mask_is_float ? situation.dtype : DType::u8;
    needs.stashes.push_back({"mask", situation.inputs[0].with_batch(situation.batch), mask,
                             /*per_sample=*/true});
    return needs;
  }

  void forward(ForwardContext& context) const override {
    Backend& backend = context.backend();
    if (const Tensor mask = stash_if_saved(context, 0)) {
      backend.dropout_mask(context.dropout_stream(), p_, mask);
      backend.apply_mask(p_, mask, context.input(0), context.output(), Write::overwrite);
    } else {
      backend.dropout(context.dropout_stream(), p_, context.input(0), context.output(),
                      Write::overwrite);
    }
  }

  void backward(BackwardContext& context) const override {
    const GradientTarget dx = context.input_gradient(0);
    if (!dx) return;
    Backend& backend = context.backend();
    if (context.needs().stashes.empty())
      backend.dropout(context.dropout_stream(), p_, context.output_gradient(), dx.tensor, dx.write);
    else
      backend.apply_mask(p_, context.stash(0), context.output_gradient(), dx.tensor, dx.write);
  }

 private:
  double p_;
};

}  // namespace

std::unique_ptr<Layer> dropout(double p) { return std::make_unique<Dropout>(p); }

}  // namespace arenagrad
