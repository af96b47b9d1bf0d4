#include "allocator/traces/utf8.h"

namespace arenagrad {
namespace {

/// Bytes of the character that `text` begins with; 0 when it is not valid.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2   ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : size;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character(text);
    result += size == 0 ? std::string_view("?") : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace arenagrad
