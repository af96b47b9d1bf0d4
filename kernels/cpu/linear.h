// Fully connected layers on the CPU, through the one GEMM function. Contracts are those of the
// methods of the same name in kernels/backend.h; `threads` never changes a result.
#pragma once

#include <cstddef>

#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cpu {

/// Scratch of one call in bytes: a function of the shape alone.
std::size_t linear_workspace(const LinearProblem& problem, ConvPass pass);

void linear_forward(const LinearProblem& problem, ConstTensor x, ConstTensor w, ConstTensor bias,
                    Tensor y, Workspace workspace, int threads);
void linear_backward_data(const LinearProblem& problem, ConstTensor dy, ConstTensor w, Tensor dx,
                          Write write, Workspace workspace, int threads);
void linear_backward_weight(const LinearProblem& problem, ConstTensor x, ConstTensor dy, Tensor dw,
                            Write write, Workspace workspace, int threads);

}  // namespace arenagrad::cpu
