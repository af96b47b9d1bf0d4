// Parameter updates, element by element. Formulas and their order are those of PyTorch's
// documentation of torch.optim.SGD, Adam and AdamW.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

/// Without momentum the buffer is absent.
template <class T, bool kMomentum>
struct Sgd {
  T learning_rate, momentum, weight_decay;
  bool nesterov, first;
  T* parameter;
  const T* gradient;
  T* buffer;

  ARENAGRAD_HD void operator()(std::int64_t i) const {
    T step = gradient[i] + weight_decay * parameter[i];
    if constexpr (kMomentum) {
      const T velocity = first ? step : momentum * buffer[i] + step;
      buffer[i] = velocity;
      step = nesterov ? step + momentum * velocity : velocity;
    }
    parameter[i] -= learning_rate * step;
  }
};

/// `rest1` is 1 - beta1 and `rest2` 1 - beta2, rounded once; `step_size` is learning_rate /
/// (1 - beta1^t), `second_root` is sqrt(1 - beta2^t); `shrink` is what a decoupled weight decay
/// leaves of a parameter, `weight_decay` the coupled one.
template <class T>
struct Adam {
  T beta1, rest1, beta2, rest2, eps, step_size, second_root, weight_decay, shrink;
  bool first;
  T* parameter;
  const T* gradient;
  T* first_moment;
  T* second_moment;

  ARENAGRAD_HD void operator()(std::int64_t i) const {
    const T weight = parameter[i] * shrink;
    const T g = gradient[i] + weight_decay * weight;
    const T m = beta1 * (first ? T(0) : first_moment[i]) + rest1 * g;
    const T v = beta2 * (first ? T(0) : second_moment[i]) + rest2 * g * g;
    first_moment[i] = m;
    second_moment[i] = v;
    parameter[i] = weight - step_size * m / (std::sqrt(v) / second_root + eps);
  }
};

}  // namespace arenagrad::bodies
