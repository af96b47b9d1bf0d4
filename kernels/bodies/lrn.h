// Local response normalisation across channels, over (sample and channel, strip of the plane).
//
// With s_c = k + (alpha / size) * sum of x_d^2 over the window of c, y_c = x_c s_c^-beta. So
// dx_c = dy_c s_c^-beta - 2 alpha beta / size * x_c * sum of dy_d x_d s_d^(-beta - 1) over the
// channels d whose window holds c: the window mirrored, which for an even size is another one.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

/// s^beta. The usual exponent, 3/4, takes two square roots instead of a power.
template <bool kThreeQuarters, class T>
ARENAGRAD_HD T scale_power(T s, T beta) {
  if constexpr (kThreeQuarters) {
    const T root = std::sqrt(s);
    return root * std::sqrt(root);
  } else {
    return std::pow(s, beta);
  }
}

/// Channels of a window that reaches `below` under and `above` over channel `c`.
struct ChannelWindow {
  std::int64_t first, last;
  ARENAGRAD_HD ChannelWindow(std::int64_t c, std::int64_t below, std::int64_t above,
                             std::int64_t channels)
      : first(c < below ? 0 : c - below), last(c + above < channels ? c + above : channels - 1) {}
};

template <class T, int kStrip, bool kThreeQuarters, bool kKeepScale>
struct LrnForward {
  std::int64_t channels, spatial, size;
  T alpha_over_size, beta, k;
  const T* x;
  T* scale;
  T* y;

  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t strip_number) const {
    const std::int64_t c = row % channels;
    const ChannelWindow window(c, size / 2, (size - 1) / 2, channels);
    const Strip strip(strip_number, kStrip, spatial);
    T squares[kStrip];
    for (T& square : squares) square = 0;
    for (std::int64_t d = window.first; d <= window.last; ++d) {
      const T* line = x + (row - c + d) * spatial + strip.first;
      for (std::int64_t l = 0; l < strip.count; ++l) squares[l] += line[l] * line[l];
    }
    const std::int64_t begin = row * spatial + strip.first;
    for (std::int64_t l = 0; l < strip.count; ++l) {
      const T s = k + alpha_over_size * squares[l];
      if constexpr (kKeepScale) scale[begin + l] = s;
      y[begin + l] = x[begin + l] / scale_power<kThreeQuarters>(s, beta);
    }
  }
};

/// `factor` is 2 alpha beta / size.
template <class T, int kStrip, bool kThreeQuarters, bool kAccumulate>
struct LrnBackward {
  std::int64_t channels, spatial, size;
  T factor, beta;
  const T* x;
  const T* scale;
  const T* dy;
  T* dx;

  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t strip_number) const {
    const std::int64_t c = row % channels;
    const ChannelWindow window(c, (size - 1) / 2, size / 2, channels);
    const Strip strip(strip_number, kStrip, spatial);
    T sum[kStrip];
    for (T& lane : sum) lane = 0;
    for (std::int64_t d = window.first; d <= window.last; ++d) {
      const std::int64_t line = (row - c + d) * spatial + strip.first;
      for (std::int64_t l = 0; l < strip.count; ++l) {
        const T s = scale[line + l];
        sum[l] += dy[line + l] * x[line + l] / (scale_power<kThreeQuarters>(s, beta) * s);
      }
    }
    const std::int64_t begin = row * spatial + strip.first;
    for (std::int64_t l = 0; l < strip.count; ++l) {
      const T direct = dy[begin + l] / scale_power<kThreeQuarters>(scale[begin + l], beta);
      store<kAccumulate>(dx + begin + l, direct - factor * x[begin + l] * sum[l]);
    }
  }
};

}  // namespace arenagrad::bodies
