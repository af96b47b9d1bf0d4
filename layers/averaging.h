// What average pools have in common: backward needs shapes alone.
#pragma once

#include "layers/common.h"

namespace arenagrad {

class AveragingLayer : public Layer {
 public:
  void forward(ForwardContext& context) const final {
    context.backend().avg_pool_forward(problem_of(context), context.input(0), context.output());
  }

  void backward(BackwardContext& context) const final {
    if (const GradientTarget dx = context.input_gradient(0))
      context.backend().avg_pool_backward(problem_of(context), context.output_gradient(), dx.tensor,
                                          dx.write);
  }

 private:
  virtual PoolProblem problem(std::int64_t batch, const Shape& input, const Shape& output,
                              DType dtype) const = 0;

  PoolProblem problem_of(const PassContext& context) const {
    return problem(context.batch(), context.input_shape(0), context.output_shape(),
                   context.dtype());
  }
};

}  // namespace arenagrad
