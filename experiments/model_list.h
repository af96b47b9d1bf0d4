// The models that come with the program, at a glance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/shape.h"

namespace arenagrad {

struct ModelRow {
  std::string name, path, description;
  Shape input;  // per sample, of the first input
  std::int64_t classes = 0;
  std::int64_t layers = 0;         // nodes of the tape, the loss included
  std::int64_t parameters = 0;     // elements
  std::int64_t multiply_adds = 0;  // per sample, forward
};

/// In the order the zoo lists them.
std::vector<ModelRow> list_models();

}  // namespace arenagrad
