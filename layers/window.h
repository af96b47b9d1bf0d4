// Windows that slide over height and width: how many places they have, and a pooling problem made
// of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/problems.h"
#include "layers/layers.h"

namespace arenagrad {

/// Throws Error for a kernel, stride or dilation below 1 or a padding below 0.
void check_window(std::string_view op, const Window& window);
/// Also refuses a padding of more than half the kernel: a window could lie in padding alone.
void check_pool(std::string_view op, const PoolSpec& spec);

/// {channels, height, width} of what a window makes of a sample CxHxW. With `ceil_mode` a last,
/// partly filled window counts, unless it would start in the padding on the right. Throws
/// ShapeError when the input is not CxHxW or no window fits in the padded input.
Shape window_output(std::string_view op, const Window& window, bool ceil_mode, const Shape& input,
                    std::int64_t channels);

PoolProblem pool_problem(const PoolSpec& spec, std::int64_t batch, const Shape& input,
                         const Shape& output, DType dtype);
/// Bins that cover the input, overlapping where its size is no multiple of the output's.
PoolProblem adaptive_pool_problem(std::int64_t batch, const Shape& input, const Shape& output,
                                  DType dtype);

}  // namespace arenagrad
