// cuDNN's answers in a JSON file, for machines without it: which engine each convolution takes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernels/cudnn/engine_source.h"

namespace arenagrad {

struct EnginesFile {
  std::size_t cudnn = 0;       // the version that answered: 91900
  std::string device;          // "h200"
  std::string properties;      // hash of what it was told about the device: hash_of
  cudnn::EnginePolicy policy;  // that the answers obey
  cudnn::EngineAnswers answers;
};

std::string to_text(const EnginesFile& file);

/// A convolution's sizes: `input`, `filter`, `stride`, `pad`, `dilation`, `groups`.
nlohmann::ordered_json sizes_json(const ConvProblem& problem);

/// Throws SpecError for anything that `to_text` would not write.
EnginesFile load_engines(const std::string& path);
EnginesFile parse_engines(std::string_view text, const std::string& file);

}  // namespace arenagrad
