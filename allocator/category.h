// What a buffer is for. Fixed at allocation, exactly one each, so that categories sum to the total.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arenagrad {

enum class Category : std::uint8_t {
  parameter,           // weights and biases
  parameter_gradient,  // one per parameter, born at its first write in backward
  optimizer_state,     // momentum, Adam's moments; born in the first update
  model_state,         // batch norm's running statistics and counters
  input,               // samples and labels
  activation,          // outputs of the forward pass
  stash,               // made in forward for backward alone: statistics, masks, indices
  activation_gradient,
  workspace,  // scratch of one kernel call
  library,    // memory handed to a library for good (the cuBLAS workspace)
};

inline constexpr std::size_t kCategoryCount = 10;

inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {
    "parameter", "parameter_gradient",  "optimizer_state", "model_state", "input", "activation",
    "stash",     "activation_gradient", "workspace",       "library"};

constexpr std::string_view name(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

/// Bytes per category, indexed by Category.
using CategoryBytes = std::array<std::size_t, kCategoryCount>;

}  // namespace arenagrad
