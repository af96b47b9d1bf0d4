#include "kernels/cpu/batch_norm.h"

#include <cmath>
#include <string>

#include "kernels/cpu/floating.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/planes.h"

namespace arenagrad::cpu {

namespace {

/// fn(first, image_stride)-style walk: calls fn(offset) for each image's plane of one channel.
template <class Fn>
void for_planes(const BatchNormProblem& p, std::int64_t channel, const Fn& fn) {
  for (std::int64_t n = 0; n < p.batch; ++n) fn((n * p.channels + channel) * p.spatial);
}

template <class T>
T value_or(ConstTensor t, std::int64_t i, T otherwise) {
  return t ? t.as<T>()[i] : otherwise;
}

template <class T>
void write_parameter(Tensor t, std::int64_t i, double value, Write write) {
  if (t) t.as<T>()[i] = static_cast<T>(write == Write::accumulate ? t.as<T>()[i] + value : value);
}

template <class T>
void normalise_channel(const BatchNormProblem& p, std::int64_t c, const T* x, T mean, T inverse_std,
                       ConstTensor weight, ConstTensor bias, T* y) {
  const T scale = value_or(weight, c, T(1)) * inverse_std, offset = value_or(bias, c, T(0));
  for_planes(p, c, [&](std::int64_t at) {
    plane_normalise(x + at, mean, scale, offset, y + at, p.spatial);
  });
}

/// Both backwards; `batch_statistics`: mean and deviation depend on x.
template <class T>
void backward_channel(const BatchNormProblem& p, std::int64_t c, bool batch_statistics, T mean,
                      T inverse_std, const T* x, const T* dy, ConstTensor weight, Tensor dx,
                      Write dx_write, Tensor dweight, Tensor dbias, Write parameter_write) {
  double sum = 0, product = 0;
  if (batch_statistics || dweight || dbias)
    for_planes(p, c, [&](std::int64_t at) {
      sum += plane_sum(dy + at, p.spatial);
      product += plane_products(dy + at, x + at, mean, p.spatial);
    });
  write_parameter<T>(dweight, c, product * inverse_std, parameter_write);
  write_parameter<T>(dbias, c, sum, parameter_write);
  if (!dx) return;
  const double count = static_cast<double>(p.batch * p.spatial);
  NormaliseGradient<T> of{};
  of.mean = mean, of.scale = value_or(weight, c, T(1)) * inverse_std;
  if (batch_statistics) {
    of.dy_mean = static_cast<T>(sum / count);
    of.slope = static_cast<T>(product / count * inverse_std * inverse_std);
  }
  T* to = dx.as<T>();
  for_planes(p, c, [&](std::int64_t at) {
    plane_normalise_gradient(of, x + at, dy + at, to + at, dx_write == Write::accumulate,
                             p.spatial);
  });
}

}  // namespace

std::size_t batch_norm_workspace(const BatchNormProblem&, bool) { return 0; }

// A tile is one channel: its planes are read two or three times and mostly stay in the L2 cache.

void batch_norm_train(const BatchNormProblem& p, ConstTensor x, ConstTensor weight,
                      ConstTensor bias, Tensor running_mean, Tensor running_var, Tensor mean,
                      Tensor inverse_std, Tensor y, Workspace, int threads) {
  if (p.batch * p.spatial == 1)
    throw ShapeError(
        "batch norm in train mode: expected more than 1 value per channel, got batch " +
        std::to_string(p.batch) + " x spatial " + std::to_string(p.spatial));
  const double count = static_cast<double>(p.batch * p.spatial);
  for_floating(p.dtype, [&]<class T>(T) {
    const T* from = x.as<T>();
    parallel_tiles(threads, p.channels, [&](int, std::int64_t c) {
      double sum = 0, squares = 0;
      for_planes(p, c, [&](std::int64_t at) { sum += plane_sum(from + at, p.spatial); });
      const double center = sum / count;
      for_planes(p, c,
                 [&](std::int64_t at) { squares += plane_squares(from + at, center, p.spatial); });
      const double variance = squares / count;
      const T channel_mean = static_cast<T>(center);
      const T channel_inverse_std = static_cast<T>(1 / std::sqrt(variance + p.eps));
      mean.as<T>()[c] = channel_mean;
      inverse_std.as<T>()[c] = channel_inverse_std;
      if (running_mean) {
        T& m = running_mean.as<T>()[c];
        T& v = running_var.as<T>()[c];
        m = static_cast<T>((1 - p.momentum) * m + p.momentum * center);
        v = static_cast<T>((1 - p.momentum) * v + p.momentum * (squares / (count - 1)));
      }
      normalise_channel(p, c, from, channel_mean, channel_inverse_std, weight, bias, y.as<T>());
    });
  });
}

void batch_norm_eval(const BatchNormProblem& p, ConstTensor x, ConstTensor weight, ConstTensor bias,
                     ConstTensor running_mean, ConstTensor running_var, Tensor y, Workspace,
                     int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    parallel_tiles(threads, p.channels, [&](int, std::int64_t c) {
      const T inverse_std = static_cast<T>(1 / std::sqrt(running_var.as<T>()[c] + p.eps));
      normalise_channel(p, c, x.as<T>(), running_mean.as<T>()[c], inverse_std, weight, bias,
                        y.as<T>());
    });
  });
}

void batch_norm_train_backward(const BatchNormProblem& p, ConstTensor x, ConstTensor dy,
                               ConstTensor weight, ConstTensor mean, ConstTensor inverse_std,
                               Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                               Write parameter_write, Workspace, int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    parallel_tiles(threads, p.channels, [&](int, std::int64_t c) {
      backward_channel(p, c, true, mean.as<T>()[c], inverse_std.as<T>()[c], x.as<T>(), dy.as<T>(),
                       weight, dx, dx_write, dweight, dbias, parameter_write);
    });
  });
}

void batch_norm_eval_backward(const BatchNormProblem& p, ConstTensor x, ConstTensor dy,
                              ConstTensor weight, ConstTensor running_mean, ConstTensor running_var,
                              Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                              Write parameter_write, Workspace, int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    parallel_tiles(threads, p.channels, [&](int, std::int64_t c) {
      const T inverse_std = static_cast<T>(1 / std::sqrt(running_var.as<T>()[c] + p.eps));
      backward_channel(p, c, false, running_mean.as<T>()[c], inverse_std, x.as<T>(), dy.as<T>(),
                       weight, dx, dx_write, dweight, dbias, parameter_write);
    });
  });
}

}  // namespace arenagrad::cpu
