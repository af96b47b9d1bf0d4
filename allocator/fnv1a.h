// FNV-1a, 64 bits: a short name for a text, to tell whether two results are of the same input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace arenagrad {

class Fnv1a {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }

  /// 16 hexadecimal digits.
  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4)
      digits += "0123456789abcdef"[(hash_ >> shift) & 15];
    return digits;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace arenagrad
