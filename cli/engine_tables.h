// cuDNN's engines for a reader and as JSON.
#pragma once

#include "cli/output.h"
#include "experiments/engine_list.h"

namespace arenagrad::cli {

Table engines_table(const std::vector<ConvolutionEngines>& list);
Json engines_json(const std::vector<ConvolutionEngines>& list);

}  // namespace arenagrad::cli
