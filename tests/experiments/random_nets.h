// Small networks drawn by a seed, for properties that should hold for any.
#pragma once

#include <random>
#include <string>

#include "experiments/settings.h"
#include "zoo/model.h"

namespace arenagrad::test {

/// Two or three convolutions with now and then batch norm, a pool, a residual addition, dropout.
inline Model random_net(std::mt19937& draw) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution(1, most)(draw); };
  const auto chance = [&] { return up_to(2) == 1; };
  std::string layers;
  const int count = 1 + up_to(2), channels = up_to(6);
  for (int i = 0; i < count; ++i) {
    const auto n = std::to_string(i);
    layers += R"({"name": "conv)" + n + R"(", "op": "conv2d", "out_channels": )" +
              std::to_string(channels) + R"(, "kernel": 3, "padding": 1},)";
    if (chance()) layers += R"({"name": "bn)" + n + R"(", "op": "batch_norm"},)";
    layers += R"({"name": "relu)" + n + R"(", "op": "relu"},)";
    if (i > 0 && chance())
      layers += R"({"name": "add)" + n + R"(", "op": "add", "in": ["relu)" + n + R"(", "relu)" +
                std::to_string(i - 1) + R"("]},)";
  }
  if (chance()) layers += R"({"name": "pool", "op": "max_pool", "kernel": 2, "stride": 2},)";
  layers += R"({"name": "flatten", "op": "flatten"},)";
  if (chance()) layers += R"({"name": "drop", "op": "dropout", "p": 0.5},)";
  const auto classes = std::to_string(1 + up_to(9));
  layers += R"({"name": "fc", "op": "linear", "out_features": )" + classes + "}";
  return parse_model(R"({"name": "random", "input": [)" + std::to_string(up_to(3)) +
                         R"(, 6, 6], "classes": )" + classes + R"(, "layers": [)" + layers + "]}",
                     "random.json");
}

/// Policy, optimizer, run mode and steps of some kind.
inline Settings random_settings(std::mt19937& draw) {
  const auto chance = [&] { return std::uniform_int_distribution(0, 1)(draw) == 0; };
  Settings settings;
  settings.steps = chance() ? 1 : 2;
  settings.plan.policy = chance() ? SavedPolicy::lean : SavedPolicy::pytorch;
  if (chance()) settings.plan.optimizer.kind = OptimizerSpec::Kind::adam;
  if (chance()) settings.plan.run = RunMode::eval;
  settings.threads = 1;
  return settings;
}

}  // namespace arenagrad::test
