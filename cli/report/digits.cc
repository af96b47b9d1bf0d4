#include "cli/report/digits.h"

#include <fmt/format.h>

#include "allocator/error.h"

namespace arenagrad::cli {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

void put_digits(std::string& text, std::uint64_t value) {
  while (value >= 32) {
    text += kLetters[32 + value % 32];
    value /= 32;
  }
  text += kLetters[value];
}

std::uint64_t DigitReader::next() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 5) {
    if (done())
      throw Error(fmt::format("events: expected a number, got the end at letter {}", at_));
    const auto digit = kLetters.find(text_[at_]);
    if (digit == std::string_view::npos)
      throw Error(fmt::format("events: expected a letter of base 64, got '{}' at letter {}",
                              text_[at_], at_));
    const std::uint64_t part = digit % 32;
    if (shift >= 64 || (part << shift) >> shift != part)
      throw Error(fmt::format("events: expected a number of 64 bits, got more at letter {}", at_));
    value |= part << shift;
    ++at_;
    if (digit < 32) return value;
  }
}

}  // namespace arenagrad::cli
