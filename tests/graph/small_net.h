// A small net with everything that makes planning hard: a residual fork, a concatenation, shared
// weights, two inputs, in-place chains, dropout and (optionally) batch norm.
#pragma once

#include "graph/tape.h"
#include "layers/layers.h"

namespace arenagrad {

inline Tape small_net(bool with_batch_norm, std::optional<CoupledLoss> coupled = std::nullopt) {
  Tape tape;
  const TensorId left = tape.input("left", Shape{3, 9, 7});
  const TensorId right = tape.input("right", Shape{3, 9, 7});
  const TensorId labels = tape.labels("labels", 5);
  const auto record = [&](std::string name, std::unique_ptr<Layer> layer,
                          std::initializer_list<TensorId> inputs,
                          std::optional<NodeId> weights = std::nullopt) {
    return tape.record(std::move(name), std::move(layer), std::span(inputs.begin(), inputs.size()),
                       weights);
  };
  const auto conv = [](std::int64_t channels, std::int64_t kernel, std::int64_t groups = 1) {
    return conv2d({.out_channels = channels,
                   .window = {.kernel = {kernel, kernel}, .padding = {kernel / 2, kernel / 2}},
                   .groups = groups});
  };
  // One stem, applied to both inputs: a siamese pair.
  TensorId a = record("stem", conv(4, 3), {left});
  const NodeId stem = *tape.find_node("stem");
  TensorId b = record("stem_again", conv(4, 3), {right}, stem);
  if (with_batch_norm) a = record("bn", batch_norm({}), {a});
  a = record("relu_a", relu(), {a});
  b = record("relu_b", relu6(), {b});
  b = record("lrn", local_response_norm({.size = 3, .alpha = 0.3, .beta = 0.75, .k = 2}), {b});

  TensorId c = record("branch1", conv(4, 3, 2), {a});
  c = record("branch_relu", relu(), {c});
  c = record("branch2", conv(4, 1), {c});
  c = record("residual", add(), {c, a});
  c = record("residual_relu", relu(), {c});
  c = record("max", max_pool({.window = {.kernel = {2, 2}, .stride = {2, 2}}, .ceil_mode = true}),
             {c});
  b = record("avg", avg_pool({.window = {.kernel = {2, 2}, .stride = {2, 2}}, .ceil_mode = true}),
             {b});
  TensorId d = record("concat", concat(), {c, b, c});
  d = record("adaptive", adaptive_avg_pool({3, 2}), {d});
  d = record("flatten", flatten(), {d});
  d = record("fc1", linear({.out_features = 11}), {d});
  d = record("fc_relu", relu(), {d});
  d = record("dropout", dropout(0.3), {d});
  d = record("fc2", linear({.out_features = 5}), {d});
  record("loss",
         coupled ? coupled_loss({.kind = *coupled, .margin = 2})
                 : softmax_cross_entropy(Reduction::mean),
         {d, labels});
  return tape;
}

}  // namespace arenagrad
