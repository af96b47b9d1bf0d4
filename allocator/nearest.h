// The known name that a mistyped one was most likely meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace arenagrad {

/// Least number of inserted, removed or replaced characters that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The first of `names` at the least edit distance; empty when there are none, or when the nearest
/// differs in more than half of its characters.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace arenagrad
