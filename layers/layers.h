// Every layer, as its constructor's arguments. One file per layer beside this one holds the class.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "graph/layer.h"

namespace arenagrad {

/// Window geometry in two dimensions, {height, width}.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, padding{0, 0}, dilation{1, 1};
};

/// How convolution and linear start (batch norm: weight 1, bias 0).
/// pytorch: weight and bias uniform in +-1/sqrt(fan_in), the modules' default.
/// kaiming_fan_out: weight normal, std sqrt(2 / fan_out), bias 0 (torchvision's ResNet, VGG).
/// normal: weight normal with std `scale`, bias 0 (torchvision's VGG linear, 0.01).
struct InitRule {
  enum class Kind : std::uint8_t { pytorch, kaiming_fan_out, normal } kind = Kind::pytorch;
  double scale = 0;
};

struct Conv2dSpec {
  std::int64_t out_channels;
  Window window;
  std::int64_t groups = 1;
  bool bias = true;
  InitRule init;
};
struct LinearSpec {
  std::int64_t out_features;
  bool bias = true;
  InitRule init;
};
struct BatchNormSpec {
  double eps = 1e-5, momentum = 0.1;
};
struct PoolSpec {
  Window window;  // dilation unused
  bool ceil_mode = false;
  bool count_include_pad = true;  // average only
};
struct LrnSpec {
  std::int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
};
enum class Reduction : std::uint8_t { mean, sum };

/// Each throws Error for arguments that no input could satisfy (kernel < 1, p outside [0, 1) ...).
std::unique_ptr<Layer> conv2d(const Conv2dSpec& spec);
std::unique_ptr<Layer> linear(const LinearSpec& spec);
std::unique_ptr<Layer> batch_norm(const BatchNormSpec& spec);
std::unique_ptr<Layer> relu();
std::unique_ptr<Layer> relu6();
std::unique_ptr<Layer> max_pool(const PoolSpec& spec);
std::unique_ptr<Layer> avg_pool(const PoolSpec& spec);
/// {height, width}; 0 in a place keeps the input's size.
std::unique_ptr<Layer> adaptive_avg_pool(std::array<std::int64_t, 2> output);
std::unique_ptr<Layer> local_response_norm(const LrnSpec& spec);
std::unique_ptr<Layer> dropout(double p);
std::unique_ptr<Layer> add();
/// Along channels (dimension 0 of a sample).
std::unique_ptr<Layer> concat();
/// To one dimension per sample.
std::unique_ptr<Layer> flatten();
std::unique_ptr<Layer> softmax_cross_entropy(Reduction reduction);

/// Losses over the batch as a whole; kernels/bodies/coupled_loss.h has the formulas. Named after
/// their kind: "cross_entropy_of_mean_logits", "variance", "contrastive".
struct CoupledLossOptions {
  CoupledLoss kind = CoupledLoss::cross_entropy_of_mean_logits;
  double margin = 1;  // contrastive: how far apart unlike samples are to be; above 0
};
std::unique_ptr<Layer> coupled_loss(const CoupledLossOptions& options);

}  // namespace arenagrad
