// Work per channel that is the shared bodies' on a GPU. Compiled with the bodies (instances.h).
#pragma once

#include "kernels/cuda/executor.h"
#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cuda {

/// y[n, c, ...] += bias[c].
void add_bias(const Executor& exec, ConstTensor bias, Tensor y);
/// sum[c] (=|+=) the sum of dy[n, c, ...] over all else.
void channel_sum(const Executor& exec, ConstTensor dy, Tensor sum, Write write);

/// A channel's mean, and its variance or 1/sqrt(variance + eps).
struct Statistics {
  ConstTensor mean, deviation;
  bool is_variance;
};

/// dweight[c] (=|+=) the sum of dy * (x - mean) / deviation.
void channel_product(const Executor& exec, const BatchNormProblem& p, ConstTensor x, ConstTensor dy,
                     const Statistics& statistics, Tensor dweight, Write write);
/// y = (x - mean) / deviation * weight + bias; y may be x, weight and bias may be none.
void normalise(const Executor& exec, const BatchNormProblem& p, ConstTensor x,
               const Statistics& statistics, ConstTensor weight, ConstTensor bias, Tensor y);
/// dx (=|+=) dy * weight / deviation; dx may be dy, weight may be none.
void normalise_backward(const Executor& exec, const BatchNormProblem& p, ConstTensor dy,
                        const Statistics& statistics, ConstTensor weight, Tensor dx, Write write);

}  // namespace arenagrad::cuda
