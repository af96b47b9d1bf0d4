// The engines of a program's convolutions, and what else cuDNN would offer for each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "kernels/cudnn/engine_planner.h"

namespace arenagrad {

struct EngineCandidate {
  cudnn::Engine engine;
  bool acceptable = false;  // under the policy
  bool chosen = false;
};

/// One distinct convolution of a program.
struct ConvolutionEngines {
  std::vector<std::string> layers;  // that do it
  cudnn::PinnedEngines pinned;
  /// In cuDNN's order; the chosen one alone where cuDNN isn't here.
  std::vector<EngineCandidate> candidates;
};

/// In the order of their first layer: forward, to the input, to the filter.
std::vector<ConvolutionEngines> list_engines(const Experiment& experiment,
                                             const cudnn::EnginePlanner& planner);

}  // namespace arenagrad
