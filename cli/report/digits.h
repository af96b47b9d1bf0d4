// Whole numbers as short text: base 64, five bits a letter, least significant first, with the sixth
// bit saying that more follow. Small numbers, of which delta-coded events mostly consist, take one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace arenagrad::cli {

void put_digits(std::string& text, std::uint64_t value);

/// Signed numbers next to 0 become small ones: 0, -1, 1, -2 as 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// Takes numbers from the front of a text. Error for a letter that is none, a number that is cut
/// off and one that 64 bits cannot hold.
class DigitReader {
 public:
  explicit DigitReader(std::string_view text) : text_(text) {}
  bool done() const { return at_ == text_.size(); }
  std::size_t at() const { return at_; }
  std::uint64_t next();
  std::int64_t next_signed() { return unzigzag(next()); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace arenagrad::cli
