// A convolution as an operation graph of one node. Internal to kernels/cudnn.
#pragma once

#include <string>

#include "kernels/cudnn/convolution.h"

namespace arenagrad::cudnn {

/// Numbers of the three tensors in a variant pack.
enum TensorNumber : std::int64_t { kX = 1, kW = 2, kY = 3 };

struct ConvGraph {
  std::vector<OwnedDescriptor> parts;  // the graph refers to these
  OwnedDescriptor graph;
};

/// Throws DeviceError when cuDNN refuses a part of it.
ConvGraph build_graph(const Target& target, const ConvKey& key, const std::string& where);

}  // namespace arenagrad::cudnn
