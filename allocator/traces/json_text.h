#pragma once

#include <string>
#include <string_view>

namespace arenagrad {

/// As a JSON string, quotes included; bytes that are not UTF-8 are replaced.
std::string json_text(std::string_view text);

}  // namespace arenagrad
