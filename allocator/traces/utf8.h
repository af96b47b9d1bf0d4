#pragma once

#include <string>
#include <string_view>

namespace arenagrad {

/// The text with a '?' for each byte that is not part of valid UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace arenagrad
