// Specs small enough to train in a test.
#pragma once

#include "experiments/settings.h"
#include "zoo/model.h"

namespace arenagrad::test {

/// Convolution, batch norm, relu, max-pool, linear on 2x6x6.
inline Model small_net(bool batch_norm) {
  const std::string norm = batch_norm ? R"({"name": "bn1", "op": "batch_norm"},)" : "";
  return parse_model(R"({"name": "small", "input": [2, 6, 6], "classes": 4, "layers": [
      {"name": "conv1", "op": "conv2d", "out_channels": 5, "kernel": 3, "padding": 1},)" +
                         norm +
                         R"({"name": "relu1", "op": "relu"},
      {"name": "pool1", "op": "max_pool", "kernel": 2, "stride": 2},
      {"name": "conv2", "op": "conv2d", "out_channels": 6, "kernel": 3},
      {"name": "relu2", "op": "relu"},
      {"name": "flatten", "op": "flatten"},
      {"name": "fc", "op": "linear", "out_features": 4}]})",
                     "small.json");
}

inline Settings small_settings(GradientMode mode = GradientMode::full_batch) {
  Settings settings;
  settings.plan.batching = {5, 2};
  settings.plan.mode = mode;
  settings.threads = 1;
  return settings;
}

}  // namespace arenagrad::test
