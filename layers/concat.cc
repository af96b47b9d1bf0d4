#include <algorithm>

#include "layers/common.h"

namespace arenagrad {
namespace {

constexpr std::string_view kOp = "concat";

class Concat final : public Layer {
 public:
  std::string_view op() const override { return kOp; }

  Signature signature(std::span<const Shape> inputs) const override {
    require_at_least_two(kOp, inputs);
    std::vector<std::int64_t> dims(inputs[0].dims().begin(), inputs[0].dims().end());
    if (dims.empty()) throw ShapeError("concat: expected channels to join, got scalars");
    for (const Shape& input : inputs.subspan(1)) {
      if (input.rank() != dims.size() ||
          !std::equal(dims.begin() + 1, dims.end(), input.dims().begin() + 1))
        throw ShapeError("concat: expected inputs that differ in channels alone, got " +
                         shapes_text(inputs));
      if (__builtin_add_overflow(dims[0], input[0], &dims[0]))
        throw ShapeError("concat: channels pass 64 bits: " + shapes_text(inputs));
    }
    return {.output = Shape(dims), .parameters = {}, .states = {}};
  }

  Needs needs(const Situation& situation) const override { return needs_nothing(situation); }

  void forward(ForwardContext& context) const override {
    for_each_slice(context, [&](std::size_t i, const SliceProblem& slice) {
      context.backend().copy_into_slice(slice, context.input(i), context.output());
    });
  }

  void backward(BackwardContext& context) const override {
    for_each_slice(context, [&](std::size_t i, const SliceProblem& slice) {
      if (const GradientTarget dx = context.input_gradient(i))
        context.backend().copy_from_slice(slice, context.output_gradient(), dx.tensor, dx.write);
    });
  }

 private:
  template <class Body>
  static void for_each_slice(PassContext& context, Body body) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < input_count(context); ++i) {
      const Shape& input = context.input_shape(i);
      body(i, SliceProblem{.batch = context.batch(),
                           .channels = input[0],
                           .wide_channels = context.output_shape()[0],
                           .begin = begin,
                           .spatial = spatial_size(input),
                           .dtype = context.dtype()});
      begin += input[0];
    }
  }
};

}  // namespace

std::unique_ptr<Layer> concat() { return std::make_unique<Concat>(); }

}  // namespace arenagrad
