// Batch norm over the batch's own statistics by cuDNN's calls without workspace. Needs CUDA's
// headers.
#pragma once

#include <cudnn.h>

#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cuda {

void batch_norm_train(cudnnHandle_t dnn, const BatchNormProblem& p, ConstTensor x,
                      ConstTensor weight, ConstTensor bias, Tensor running_mean, Tensor running_var,
                      Tensor mean, Tensor inverse_std, Tensor y);

/// dx is wanted. Gradients of parameters that are not go to the workspace, which holds two numbers
/// a channel.
void batch_norm_train_backward(cudnnHandle_t dnn, const BatchNormProblem& p, ConstTensor x,
                               ConstTensor dy, ConstTensor weight, ConstTensor mean,
                               ConstTensor inverse_std, Tensor dx, Write dx_write, Tensor dweight,
                               Tensor dbias, Write parameter_write, Workspace workspace);

}  // namespace arenagrad::cuda
