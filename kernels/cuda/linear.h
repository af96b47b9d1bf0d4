// Linear layers by cuBLAS, which works in the memory it was handed for good. Needs CUDA's headers.
#pragma once

#include <cublas_v2.h>

#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cuda {

/// y = x w^T, without bias.
void linear_forward(cublasHandle_t blas, const LinearProblem& p, ConstTensor x, ConstTensor w,
                    Tensor y);
void linear_backward_data(cublasHandle_t blas, const LinearProblem& p, ConstTensor dy,
                          ConstTensor w, Tensor dx, Write write);
void linear_backward_weight(cublasHandle_t blas, const LinearProblem& p, ConstTensor x,
                            ConstTensor dy, Tensor dw, Write write);

}  // namespace arenagrad::cuda
