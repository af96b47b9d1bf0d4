// Everything of the backend that runs bodies, instantiated: included by one file, after `submit`
// and launch.h.
#pragma once

#include "kernels/bodies/channels.h"
#include "kernels/bodies/pointwise_methods.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/channels.h"
#include "kernels/cuda/launch.h"

namespace arenagrad {

template class PointwiseBackend<cuda::Executor>;

namespace cuda {
namespace {

struct Channels {
  std::int64_t batch, channels, spatial;
};

/// [batch, channels, ...] as the bodies see it.
Channels channels_of(const ConstTensor& t) {
  return bodies::as_laid_out(Channels{t.shape[0], t.shape[1], bodies::spatial_of(t)}, t);
}

template <class T>
const T* data_or_null(const ConstTensor& t) {
  return t ? t.as<T>() : nullptr;
}

}  // namespace

void add_bias(const Executor& exec, ConstTensor bias, Tensor y) {
  const Channels c = channels_of(y);
  bodies::with_float(y.dtype, [&]<class T>() {
    exec.for_grid(c.batch * c.channels, c.spatial,
                  bodies::AddBias<T>{c.channels, c.spatial, bias.as<T>(), y.as<T>()});
  });
}

void channel_sum(const Executor& exec, ConstTensor dy, Tensor sum, Write write) {
  const Channels c = channels_of(dy);
  bodies::with_float(dy.dtype, write, [&]<class T, bool kAccumulate>() {
    exec.reduce_long_rows(
        c.channels, c.batch * c.spatial,
        bodies::ChannelSum<T, kAccumulate>{{c.channels, c.spatial}, dy.as<T>(), sum.as<T>()});
  });
}

void channel_product(const Executor& exec, const BatchNormProblem& problem, ConstTensor x,
                     ConstTensor dy, const Statistics& statistics, Tensor dweight, Write write) {
  const BatchNormProblem p = bodies::as_laid_out(problem, x);
  bodies::with_float(p.dtype, write, [&]<class T, bool kAccumulate>() {
    exec.reduce_long_rows(p.channels, p.batch * p.spatial,
                          bodies::ChannelProduct<T, kAccumulate>{
                              {p.channels, p.spatial},
                              x.as<T>(),
                              dy.as<T>(),
                              statistics.mean.as<T>(),
                              {statistics.deviation.as<T>(), p.eps, statistics.is_variance},
                              dweight.as<T>()});
  });
}

void normalise(const Executor& exec, const BatchNormProblem& problem, ConstTensor x,
               const Statistics& statistics, ConstTensor weight, ConstTensor bias, Tensor y) {
  const BatchNormProblem p = bodies::as_laid_out(problem, x);
  bodies::with_float(p.dtype, [&]<class T>() {
    exec.for_grid(
        p.batch * p.channels, p.spatial,
        bodies::Normalise<T>{p.channels,
                             p.spatial,
                             x.as<T>(),
                             statistics.mean.as<T>(),
                             {statistics.deviation.as<T>(), p.eps, statistics.is_variance},
                             data_or_null<T>(weight),
                             data_or_null<T>(bias),
                             y.as<T>()});
  });
}

void normalise_backward(const Executor& exec, const BatchNormProblem& problem, ConstTensor dy,
                        const Statistics& statistics, ConstTensor weight, Tensor dx, Write write) {
  const BatchNormProblem p = bodies::as_laid_out(problem, dy);
  bodies::with_float(p.dtype, write, [&]<class T, bool kAccumulate>() {
    exec.for_grid(p.batch * p.channels, p.spatial,
                  bodies::NormaliseBackward<T, kAccumulate>{
                      p.channels,
                      p.spatial,
                      dy.as<T>(),
                      {statistics.deviation.as<T>(), p.eps, statistics.is_variance},
                      data_or_null<T>(weight),
                      dx.as<T>()});
  });
}

}  // namespace cuda
}  // namespace arenagrad
