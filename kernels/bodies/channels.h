// What is done per channel of [batch, channels, spatial] where a device's libraries don't do it:
// bias, its gradient, and batch norm as a fixed affine map. Sums are kept in double.
#pragma once

#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

/// y += bias; a grid of planes by elements of a plane.
template <class T>
struct AddBias {
  std::int64_t channels, spatial;
  const T* bias;
  T* y;
  ARENAGRAD_HD void operator()(std::int64_t plane, std::int64_t i) const {
    y[plane * spatial + i] += bias[plane % channels];
  }
};

/// Where column `i` of a channel's row of batch x spatial values lies.
struct ChannelRow {
  std::int64_t channels, spatial;
  ARENAGRAD_HD std::int64_t at(std::int64_t channel, std::int64_t i) const {
    const std::int64_t sample = i / spatial;
    return (sample * channels + channel) * spatial + (i - sample * spatial);
  }
};

/// sum[c] (=|+=) the sum of dy over a channel; rows are channels.
template <class T, bool kAccumulate>
struct ChannelSum {
  ChannelRow row;
  const T* dy;
  T* sum;

  using Value = double;
  ARENAGRAD_HD double identity() const { return 0; }
  ARENAGRAD_HD double load(std::int64_t channel, std::int64_t i) const {
    return static_cast<double>(dy[row.at(channel, i)]);
  }
  ARENAGRAD_HD double combine(double a, double b) const { return a + b; }
  ARENAGRAD_HD void finish(std::int64_t channel, double total) const {
    sum[channel] = static_cast<T>(kAccumulate ? static_cast<double>(sum[channel]) + total : total);
  }
};

/// A channel's deviation as it is given: 1/sqrt(variance + eps), or the number itself.
template <class T>
struct Deviation {
  const T* value;
  double eps;
  bool is_variance;
  ARENAGRAD_HD T inverse(std::int64_t channel) const {
    if (!is_variance) return value[channel];
    return static_cast<T>(1 / std::sqrt(static_cast<double>(value[channel]) + eps));
  }
};

/// dweight[c] (=|+=) the sum of dy * (x - mean) / deviation over a channel; rows are channels.
template <class T, bool kAccumulate>
struct ChannelProduct {
  ChannelRow row;
  const T* x;
  const T* dy;
  const T* mean;
  Deviation<T> deviation;
  T* dweight;

  using Value = double;
  ARENAGRAD_HD double identity() const { return 0; }
  ARENAGRAD_HD double load(std::int64_t channel, std::int64_t i) const {
    const std::int64_t at = row.at(channel, i);
    return static_cast<double>(dy[at]) *
           (static_cast<double>(x[at]) - static_cast<double>(mean[channel]));
  }
  ARENAGRAD_HD double combine(double a, double b) const { return a + b; }
  ARENAGRAD_HD void finish(std::int64_t channel, double total) const {
    const double value = total * static_cast<double>(deviation.inverse(channel));
    dweight[channel] =
        static_cast<T>(kAccumulate ? static_cast<double>(dweight[channel]) + value : value);
  }
};

/// y = (x - mean) * weight / deviation + bias; a grid of planes. y may be x; `weight` and `bias`
/// may be null.
template <class T>
struct Normalise {
  std::int64_t channels, spatial;
  const T* x;
  const T* mean;
  Deviation<T> deviation;
  const T* weight;
  const T* bias;
  T* y;
  ARENAGRAD_HD void operator()(std::int64_t plane, std::int64_t i) const {
    const std::int64_t channel = plane % channels, at = plane * spatial + i;
    const T scale = (weight == nullptr ? T(1) : weight[channel]) * deviation.inverse(channel);
    y[at] = (x[at] - mean[channel]) * scale + (bias == nullptr ? T(0) : bias[channel]);
  }
};

/// dx (=|+=) dy * weight / deviation, the statistics being constants. dx may be dy.
template <class T, bool kAccumulate>
struct NormaliseBackward {
  std::int64_t channels, spatial;
  const T* dy;
  Deviation<T> deviation;
  const T* weight;
  T* dx;
  ARENAGRAD_HD void operator()(std::int64_t plane, std::int64_t i) const {
    const std::int64_t channel = plane % channels, at = plane * spatial + i;
    const T scale = (weight == nullptr ? T(1) : weight[channel]) * deviation.inverse(channel);
    store<kAccumulate>(dx + at, dy[at] * scale);
  }
};

}  // namespace arenagrad::bodies
