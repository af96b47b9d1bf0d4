#include "allocator/traces/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace arenagrad {

std::string json_text(std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), plain)) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace arenagrad
