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

/// "engine ..." or "none WHY": the line that answers one question.
void write(std::ostream& out, const EngineAnswer& answer);

/// The last line of a process that cannot go on, without its end.
std::string lost(const std::string& why);

/// Each throws ContractError for text that the writers would not write.
ConvKey read_key(std::istream& in);
EnginePolicy read_policy(std::istream& in);
Engine read_engine(std::istream& in);
/// DeviceError with the reason when the process is lost.
EngineAnswer read_answer(const std::string& line);

/// The end of a list of answers.
inline constexpr const char* kEnd = "end";

}  // namespace arenagrad::cudnn
