#pragma once

#include <span>
#include <string>
#include <string_view>

namespace arenagrad {

/// " (did you mean 'stride'?)" when a known name is close to `name`, else " (known: a, b, c)" or,
/// for no or many names, nothing.
std::string hint(std::string_view name, std::span<const std::string_view> known);

}  // namespace arenagrad
