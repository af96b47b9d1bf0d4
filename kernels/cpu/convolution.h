// Convolution on the CPU: im2col tiles times the one GEMM function. f32 and f64, NCHW, any stride,
// padding, dilation and groups. Contracts are those of the methods of the same name in
// kernels/backend.h; `threads` says how many threads may help and never changes a result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cpu {

/// Scratch of one call in bytes: a function of the shape alone. The calls below demand at least as
/// much, aligned to 64 bytes, and use no byte beyond it.
std::size_t conv_workspace(const ConvProblem& problem, ConvPass pass);

/// There is one engine, 0.
void conv_forward(const ConvProblem& problem, std::int64_t engine, ConstTensor x, ConstTensor w,
                  ConstTensor bias, Tensor y, Workspace workspace, int threads);
void conv_backward_data(const ConvProblem& problem, std::int64_t engine, ConstTensor dy,
                        ConstTensor w, Tensor dx, Write write, Workspace workspace, int threads);
void conv_backward_filter(const ConvProblem& problem, std::int64_t engine, ConstTensor x,
                          ConstTensor dy, Tensor dw, Write write, Workspace workspace, int threads);

/// dy is [batch, channels, spatial...]; needs no scratch.
void bias_gradient(ConstTensor dy, Tensor db, Write write, int threads);

}  // namespace arenagrad::cpu
