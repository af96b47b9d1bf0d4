// What people on forums compute in order to find the largest batch, computed from the same model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "zoo/model.h"

namespace arenagrad {

struct BatchFormula {
  std::string name;    // "memory / 4 / (elements + parameters)"
  std::int64_t batch;  // what it gives; 0: nothing fits
  std::string claims;  // what it takes for granted, with its numbers
  std::string source;
  std::optional<bool> fits = std::nullopt;  // that batch, really; nothing: not looked at
};

/// Elements of every output of a forward pass, of a sample, that a summary of layers lists: what a
/// module makes. Additions, concatenations and flattening are no modules, the loss is not listed.
std::int64_t listed_elements(const Model& model);

/// The "forward/backward pass size" of torchsummary for a sample, in bytes: twice what modules make
/// at 4 bytes an element.
std::int64_t torchsummary_bytes(const Model& model);

/// `fits(batch)` says whether a batch really fits; nothing where that would take too long.
std::vector<BatchFormula> batch_formulas(
    const Model& model, std::size_t capacity,
    const std::function<std::optional<bool>(std::int64_t)>& fits);

}  // namespace arenagrad
