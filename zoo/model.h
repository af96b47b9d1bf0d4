// From a spec (a JSON text) to a model ready to plan.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tape.h"
#include "zoo/spec_error.h"

namespace arenagrad {

struct Model {
  std::string name;
  std::string path;               // as given; "-" for stdin
  std::string hash;               // of the text: FNV-1a, 64 bits, hexadecimal
  Tape tape;                      // with its loss
  std::vector<TensorId> samples;  // inputs that are fed
  std::int64_t classes = 0;
  NodeId loss = kNoNode;
  TensorId outputs = kNoTensor;  // the loss's first input: the logits
};

struct ModelOptions {
  std::optional<Shape> input;  // --input CxHxW: replaces the spec's (single) input shape
};

/// `path` may be "-" (stdin), or the bare name of a zoo model. Throws SpecError.
Model load_model(const std::string& path, const ModelOptions& options = {});
/// From text; `file` is for messages.
Model parse_model(std::string_view text, const std::string& file, const ModelOptions& options = {});

struct ZooEntry {
  std::string name, path, description;
};
/// Models installed beside the program (or in the source tree when run from the build).
std::vector<ZooEntry> zoo_models();

}  // namespace arenagrad
