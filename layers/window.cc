#include "layers/window.h"

#include <string>

#include "layers/common.h"

namespace arenagrad {
namespace {

std::string pair_text(const std::array<std::int64_t, 2>& pair) {
  return std::to_string(pair[0]) + "x" + std::to_string(pair[1]);
}

/// Input elements that a window spans.
std::int64_t extent(const Window& window, std::size_t axis) {
  return window.dilation[axis] * (window.kernel[axis] - 1) + 1;
}

/// Places of the window along an axis; below 1 when there is none.
std::int64_t places(const Window& window, bool ceil_mode, std::size_t axis, std::int64_t length) {
  const std::int64_t stride = window.stride[axis], padding = window.padding[axis];
  const std::int64_t room = length + 2 * padding - extent(window, axis);
  if (room < 0 && !(ceil_mode && room + stride > 0)) return 0;
  std::int64_t count = room < 0 ? 1 : room / stride + 1;
  if (ceil_mode && room >= 0 && room % stride != 0) ++count;
  if (ceil_mode && (count - 1) * stride >= length + padding) --count;
  return count;
}

}  // namespace

void check_window(std::string_view op, const Window& window) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    require_argument(op, "kernel", window.kernel[axis], 1);
    require_argument(op, "stride", window.stride[axis], 1);
    require_argument(op, "padding", window.padding[axis], 0);
    require_argument(op, "dilation", window.dilation[axis], 1);
  }
}

void check_pool(std::string_view op, const PoolSpec& spec) {
  check_window(op, spec.window);
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (spec.window.padding[axis] > spec.window.kernel[axis] / 2)
      throw Error(std::string(op) + ": expected padding of at most half the kernel (" +
                  pair_text(spec.window.kernel) + "), got " + pair_text(spec.window.padding));
}

Shape window_output(std::string_view op, const Window& window, bool ceil_mode, const Shape& input,
                    std::int64_t channels) {
  require_rank(op, input, 3, "CxHxW");
  const auto count = [&](std::size_t axis) {
    const std::int64_t length = input[axis + 1];
    // Any realistic length is far below; it keeps the sums in `places` exact.
    if (length >> 61 != 0)
      throw ShapeError(std::string(op) + ": input " + input.text() +
                       " is too large for 64-bit sizes");
    const std::int64_t n = places(window, ceil_mode, axis, length);
    if (n >= 1) return n;
    std::string spanned = pair_text(window.kernel);
    if (window.dilation != std::array<std::int64_t, 2>{1, 1})
      spanned += " (dilated to " + pair_text({extent(window, 0), extent(window, 1)}) + ")";
    throw ShapeError(
        std::string(op) + ": expected a kernel no larger than its padded input " +
        pair_text({input[1] + 2 * window.padding[0], input[2] + 2 * window.padding[1]}) +
        " (input " + input.text() + ", padding " + pair_text(window.padding) + "), got kernel " +
        spanned);
  };
  return Shape{channels, count(0), count(1)};
}

PoolProblem pool_problem(const PoolSpec& spec, std::int64_t batch, const Shape& input,
                         const Shape& output, DType dtype) {
  const auto axis = [&](std::size_t i) {
    return PoolAxis{.length = input[i + 1],
                    .output = output[i + 1],
                    .kernel = spec.window.kernel[i],
                    .stride = spec.window.stride[i],
                    .pad = spec.window.padding[i],
                    .adaptive = false};
  };
  return {.planes = batch * input[0],
          .h = axis(0),
          .w = axis(1),
          .count_include_pad = spec.count_include_pad,
          .dtype = dtype};
}

PoolProblem adaptive_pool_problem(std::int64_t batch, const Shape& input, const Shape& output,
                                  DType dtype) {
  const auto axis = [&](std::size_t i) {
    return PoolAxis{.length = input[i + 1],
                    .output = output[i + 1],
                    .kernel = 1,
                    .stride = 1,
                    .pad = 0,
                    .adaptive = true};
  };
  return {.planes = batch * input[0],
          .h = axis(0),
          .w = axis(1),
          .count_include_pad = false,
          .dtype = dtype};
}

}  // namespace arenagrad
