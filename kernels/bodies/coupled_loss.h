// Losses that are no sum over the samples. x is [batch, classes]; everything is summed in double,
// in the order of the samples, so that results have the same bits on every device.
//
//   mean logits: m = mean over the samples of x, t = mean of their one-hot labels;
//                loss = cross entropy of softmax(m) and t; dloss/dx = (softmax(m) - t) / batch
//   variance:    loss = mean over the classes of the (biased) variance over the samples;
//                dloss/dx = 2 (x - m) / (batch * classes)
//   contrastive: over the batch (batch - 1) / 2 pairs of samples, d their distance: the mean of d^2
//                where labels are alike, of max(0, margin - d)^2 where they are not
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

/// mean[c] = m, target[c] = t.
template <class T>
struct ClassMeans {
  std::int64_t batch, classes;
  const T* x;
  const std::int64_t* labels;
  double* mean;
  double* target;
  ARENAGRAD_HD void operator()(std::int64_t c) const {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < batch; ++i) {
      sum += static_cast<double>(x[i * classes + c]);
      count += labels[i] == c ? 1 : 0;
    }
    mean[c] = sum / static_cast<double>(batch);
    target[c] = static_cast<double>(count) / static_cast<double>(batch);
  }
};

/// One call. `kept`, where given, becomes softmax(m) - t.
template <class T>
struct MeanLogitsLoss {
  std::int64_t classes;
  const double* mean;
  const double* target;
  T* kept;
  T* loss;
  ARENAGRAD_HD void operator()(std::int64_t) const {
    double largest = mean[0];
    for (std::int64_t c = 1; c < classes; ++c) largest = mean[c] > largest ? mean[c] : largest;
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(mean[c] - largest);
    const double log_sum = std::log(sum) + largest;
    double total = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      total += target[c] * (log_sum - mean[c]);
      if (kept != nullptr) kept[c] = static_cast<T>(std::exp(mean[c] - log_sum) - target[c]);
    }
    loss[0] = static_cast<T>(total);
  }
};

template <class T, bool kAccumulate>
struct MeanLogitsBackward {
  std::int64_t classes;
  double factor;  // seed / batch
  const T* kept;
  T* dx;
  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t c) const {
    store<kAccumulate>(dx + row * classes + c,
                       static_cast<T>(factor * static_cast<double>(kept[c])));
  }
};

/// variance[c]; `kept`, where given, becomes m.
template <class T>
struct ClassVariances {
  std::int64_t batch, classes;
  const T* x;
  T* kept;
  double* variance;
  ARENAGRAD_HD void operator()(std::int64_t c) const {
    double sum = 0;
    for (std::int64_t i = 0; i < batch; ++i) sum += static_cast<double>(x[i * classes + c]);
    const double mean = sum / static_cast<double>(batch);
    double squares = 0;
    for (std::int64_t i = 0; i < batch; ++i) {
      const double apart = static_cast<double>(x[i * classes + c]) - mean;
      squares += apart * apart;
    }
    variance[c] = squares / static_cast<double>(batch);
    if (kept != nullptr) kept[c] = static_cast<T>(mean);
  }
};

template <class T, bool kAccumulate>
struct VarianceBackward {
  std::int64_t classes;
  double factor;  // 2 seed / (batch classes)
  const T* x;
  const T* kept;
  T* dx;
  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t c) const {
    const double apart = static_cast<double>(x[row * classes + c]) - static_cast<double>(kept[c]);
    store<kAccumulate>(dx + row * classes + c, static_cast<T>(factor * apart));
  }
};

template <class T>
struct Pairs {
  std::int64_t batch, classes;
  double margin;
  const T* x;
  const std::int64_t* labels;

  ARENAGRAD_HD double square(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double apart =
          static_cast<double>(x[i * classes + c]) - static_cast<double>(x[j * classes + c]);
      sum += apart * apart;
    }
    return sum;
  }
  ARENAGRAD_HD bool alike(std::int64_t i, std::int64_t j) const { return labels[i] == labels[j]; }
};

/// What sample i adds with all samples after it.
template <class T>
struct PairLosses {
  Pairs<T> pairs;
  double* row_loss;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t j = i + 1; j < pairs.batch; ++j) {
      const double square = pairs.square(i, j);
      const double gap = pairs.margin - std::sqrt(square);
      sum += pairs.alike(i, j) ? square : gap > 0 ? gap * gap : 0;
    }
    row_loss[i] = sum;
  }
};

/// One row of dx. At distance 0 unlike samples have no direction to part in: 0.
template <class T, bool kAccumulate>
struct PairsBackward {
  Pairs<T> pairs;
  double factor;  // seed / number of pairs
  T* dx;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    const std::int64_t classes = pairs.classes;
    if (!kAccumulate) {
      for (std::int64_t c = 0; c < classes; ++c) dx[i * classes + c] = 0;
    }
    for (std::int64_t j = 0; j < pairs.batch; ++j) {
      if (j == i) continue;
      double weight = 2 * factor;
      if (!pairs.alike(i, j)) {
        const double d = std::sqrt(pairs.square(i, j));
        if (d >= pairs.margin || d == 0) continue;
        weight *= -(pairs.margin - d) / d;
      }
      for (std::int64_t c = 0; c < classes; ++c) {
        const double apart = static_cast<double>(pairs.x[i * classes + c]) -
                             static_cast<double>(pairs.x[j * classes + c]);
        dx[i * classes + c] += static_cast<T>(weight * apart);
      }
    }
  }
};

/// One call: loss = factor * sum of `terms`.
template <class T>
struct SumOfTerms {
  std::int64_t count;
  double factor;
  const double* terms;
  T* loss;
  ARENAGRAD_HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += terms[i];
    loss[0] = static_cast<T>(factor * sum);
  }
};

}  // namespace arenagrad::bodies
