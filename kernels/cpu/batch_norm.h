// Batch normalisation on the CPU. Contracts are those of the methods of the same name in
// kernels/backend.h; `threads` never changes a result. Sums are kept in double.
#pragma once

#include <cstddef>

#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cpu {

/// Scratch of one call in bytes: a function of the shape alone.
std::size_t batch_norm_workspace(const BatchNormProblem& problem, bool backward);

/// Throws ShapeError when there is one value per channel: it has no unbiased variance.
void batch_norm_train(const BatchNormProblem& problem, ConstTensor x, ConstTensor weight,
                      ConstTensor bias, Tensor running_mean, Tensor running_var, Tensor mean,
                      Tensor inverse_std, Tensor y, Workspace workspace, int threads);
void batch_norm_eval(const BatchNormProblem& problem, ConstTensor x, ConstTensor weight,
                     ConstTensor bias, ConstTensor running_mean, ConstTensor running_var, Tensor y,
                     Workspace workspace, int threads);
void batch_norm_train_backward(const BatchNormProblem& problem, ConstTensor x, ConstTensor dy,
                               ConstTensor weight, ConstTensor mean, ConstTensor inverse_std,
                               Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                               Write parameter_write, Workspace workspace, int threads);
void batch_norm_eval_backward(const BatchNormProblem& problem, ConstTensor x, ConstTensor dy,
                              ConstTensor weight, ConstTensor running_mean, ConstTensor running_var,
                              Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                              Write parameter_write, Workspace workspace, int threads);

}  // namespace arenagrad::cpu
