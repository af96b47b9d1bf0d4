// Questions and answers as lines of text, for the pipe between this process and the one that cuDNN
// runs in. Both ends are this program. Internal to kernels/cudnn.
#pragma once

#include <istream>
#include <ostream>

#include "kernels/cudnn/engine_source.h"

namespace arenagrad::cudnn {

void write(std::ostream& out, const ConvKey& key);
void write(std::ostream& out, const EnginePolicy& policy);
void write(std::ostream& out, const Engine& engine);

/// Each throws ContractError for text that the writers would not write.
ConvKey read_key(std::istream& in);
EnginePolicy read_policy(std::istream& in);
Engine read_engine(std::istream& in);

}  // namespace arenagrad::cudnn
