// The layer list of a reference case as a tape.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graph/tape.h"

namespace arenagrad::numeric {

struct Net {
  Tape tape;
  TensorId samples = kNoTensor, labels = kNoTensor;
  std::vector<NodeId> layers;  // as listed, the loss not among them
  NodeId loss = kNoNode;
};

/// Builds from a case's "input_shape", "classes" and "layers". A layer is {"name", "op", "in":
/// names of earlier layers or "x", ...}: the op's own keys are named as PyTorch's arguments, sizes
/// are one number or {height, width}, absent keys have PyTorch's defaults; "weights" names an
/// earlier layer whose parameters are used again. "output_shape", where given, has to be what the
/// tape finds. Ops: conv2d, batch_norm, lrn, max_pool, avg_pool, adaptive_avg_pool, relu, relu6,
/// linear, dropout, flatten, add, concat. The loss is the mean cross-entropy of the last layer's
/// output.
///
/// Keys that mean nothing to it are ignored: the numbers tell whether one mattered. Throws Error
/// that names the layer.
Net build_net(const nlohmann::json& reference_case);

}  // namespace arenagrad::numeric
