// Softmax and cross entropy. For a row with maximum m, sum S = sum of exp(x - m): probability
// exp(x - m) / S, loss ln S - (x_label - m). Rows are reduced by the fixed tree of executor.h;
// sums and losses are kept in double, which costs little: one number a row. Scratch is two doubles
// a sample: `row_state` holds m, then S; `row_loss` holds x_label - m, then the loss.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

/// Finds m. A label out of range makes the loss NaN instead of reading elsewhere.
template <class T>
struct RowMaximum {
  std::int64_t classes;
  const T* logits;
  const std::int64_t* labels;
  double* row_state;
  double* row_loss;

  using Value = T;
  ARENAGRAD_HD T identity() const { return -static_cast<T>(INFINITY); }
  ARENAGRAD_HD T load(std::int64_t row, std::int64_t i) const { return logits[row * classes + i]; }
  ARENAGRAD_HD T combine(T a, T b) const { return b > a || b != b ? b : a; }
  ARENAGRAD_HD void finish(std::int64_t row, T maximum) const {
    const std::int64_t label = labels[row];
    const double m = static_cast<double>(maximum);
    row_state[row] = m;
    row_loss[row] = label >= 0 && label < classes
                        ? static_cast<double>(logits[row * classes + label]) - m
                        : static_cast<double>(NAN);
  }
};

/// Finds S and the row's loss, and leaves exp(x - m) where the probabilities will be, if anywhere.
template <class T>
struct RowExponentials {
  std::int64_t classes;
  const T* logits;
  T* exponentials;
  double* row_state;
  double* row_loss;

  using Value = double;
  ARENAGRAD_HD double identity() const { return 0; }
  ARENAGRAD_HD double load(std::int64_t row, std::int64_t i) const {
    const T e = std::exp(logits[row * classes + i] - static_cast<T>(row_state[row]));
    if (exponentials != nullptr) exponentials[row * classes + i] = e;
    return static_cast<double>(e);
  }
  ARENAGRAD_HD double combine(double a, double b) const { return a + b; }
  ARENAGRAD_HD void finish(std::int64_t row, double sum) const {
    row_state[row] = sum;
    row_loss[row] = std::log(sum) - row_loss[row];
  }
};

template <class T>
struct Probabilities {
  std::int64_t classes;
  const double* row_sum;
  T* probabilities;
  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t i) const {
    T* p = probabilities + row * classes + i;
    *p = *p / static_cast<T>(row_sum[row]);
  }
};

/// One row, over the samples.
template <class T>
struct TotalLoss {
  double weight;
  const double* row_loss;
  T* loss;

  using Value = double;
  ARENAGRAD_HD double identity() const { return 0; }
  ARENAGRAD_HD double load(std::int64_t, std::int64_t sample) const { return row_loss[sample]; }
  ARENAGRAD_HD double combine(double a, double b) const { return a + b; }
  ARENAGRAD_HD void finish(std::int64_t, double sum) const {
    loss[0] = static_cast<T>(weight * sum);
  }
};

template <class T, bool kAccumulate>
struct SoftmaxCrossEntropyBackward {
  std::int64_t classes;
  T seed;
  const T* probabilities;
  const std::int64_t* labels;
  T* dlogits;
  ARENAGRAD_HD void operator()(std::int64_t row, std::int64_t i) const {
    const T target = labels[row] == i ? T(1) : T(0);
    const std::int64_t at = row * classes + i;
    store<kAccumulate>(dlogits + at, seed * (probabilities[at] - target));
  }
};

}  // namespace arenagrad::bodies
