// What a kernel is asked to do, as plain numbers: the same for every backend, and all that planning
// needs to know.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace arenagrad {

enum class ConvPass : std::uint8_t { forward, backward_data, backward_filter };

/// NCHW cross-correlation; weight is [out_channels, in_channels / groups, kernel_h, kernel_w].
struct ConvProblem {
  std::int64_t batch, in_channels, in_h, in_w;
  std::int64_t out_channels, kernel_h, kernel_w;
  std::int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
  std::int64_t out_h, out_w;
  DType dtype;
  friend auto operator<=>(const ConvProblem&, const ConvProblem&) = default;
};

/// y[n, out] = x[n, in] * weight[out, in]^T + bias.
struct LinearProblem {
  std::int64_t batch, in_features, out_features;
  DType dtype;
};

/// Per channel over batch x spatial.
struct BatchNormProblem {
  std::int64_t batch, channels, spatial;
  DType dtype;
  double eps;
  double momentum;
};

/// One axis of a pooling window. Output i covers input [begin(i), end(i)) cut to [0, length).
struct PoolAxis {
  std::int64_t length, output, kernel, stride, pad;
  bool adaptive;  // then bins floor(i*L/n) .. ceil((i+1)*L/n); kernel, stride, pad unused
};

struct PoolProblem {
  std::int64_t planes;  // batch x channels
  PoolAxis h, w;
  bool count_include_pad;  // average only: the divisor counts padding (never the part that
                           // ceil_mode adds beyond it)
  DType dtype;
};

/// Across channels: y = x / (k + alpha/size * sum of x^2 over channels c-size/2 ..
/// c+(size-1)/2)^beta.
struct LrnProblem {
  std::int64_t batch, channels, spatial;
  std::int64_t size;
  double alpha, beta, k;
  DType dtype;
};

/// Copies all channels of a tensor from or to a slice of a wider one's.
struct SliceProblem {
  std::int64_t batch;
  std::int64_t channels;       // of the narrow tensor
  std::int64_t wide_channels;  // of the wide tensor
  std::int64_t begin;          // the slice's first channel
  std::int64_t spatial;        // elements of a channel
  DType dtype;
};

struct SoftmaxCrossEntropyProblem {
  std::int64_t batch, classes;
  DType dtype;
};

/// Losses of a batch that are not made of its samples' (kernels/bodies/coupled_loss.h has the
/// formulas).
enum class CoupledLoss : std::uint8_t { cross_entropy_of_mean_logits, variance, contrastive };

struct CoupledLossProblem {
  CoupledLoss kind;
  std::int64_t batch, classes;
  double margin;  // contrastive alone
  DType dtype;
  /// 1 / number of pairs of samples; 0 for a single one.
  double pair_weight() const {
    return batch < 2 ? 0 : 2 / (static_cast<double>(batch) * static_cast<double>(batch - 1));
  }
};

}  // namespace arenagrad
