#include "allocator/units.h"

#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

constexpr std::string_view kPrefixes = "KMGTP";  // printed
constexpr std::string_view kTyped = "KMGTPE";
// 18 decimals fit 60 bits; with the largest unit, 2^60, the product fits 128.
constexpr std::size_t kMaxDigits = 18;
__extension__ using Wide = unsigned __int128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

template <class Refusal = Error>
[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Refusal("not a number of bytes: " + why +
                "; expected a number and a unit, such as 6GiB, 6GB, 512MiB, 1.5GiB or 123; got \"" +
                std::string(text) + "\"");
}

/// Bytes in one `unit` ("", "B", "KiB", "kB", ...); 0 when there is no such unit.
std::uint64_t bytes_in(std::string_view unit) {
  std::string name;
  for (const char c : unit) name += upper(c);
  if (name.empty() || name == "B") return 1;
  const std::size_t power = kTyped.find(name[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = std::string_view(name).substr(1);
  if (rest != "B" && rest != "IB") return 0;
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= rest == "B" ? 1000 : 1024;
  return bytes;
}

std::string_view take_digits(std::string_view& rest) {
  std::size_t n = 0;
  while (n < rest.size() && is_digit(rest[n])) ++n;
  const std::string_view digits = rest.substr(0, n);
  rest.remove_prefix(n);
  return digits;
}

}  // namespace

std::string human_bytes(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::size_t power = 0;
  std::uint64_t unit = 1024;
  std::uint64_t hundredths = 0;
  while (true) {
    // The remainder is below 2^50, so times 100 it fits.
    hundredths = bytes / unit * 100 + (bytes % unit * 100 + unit / 2) / unit;
    if (hundredths < 1024 * 100 || power + 1 == kPrefixes.size()) break;
    unit *= 1024;
    ++power;
  }
  const std::string cents = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (cents.size() == 1 ? ".0" : ".") + cents + " " +
         kPrefixes[power] + "iB";
}

std::string exact_bytes(std::size_t bytes) {
  if (bytes < 1024) return human_bytes(bytes);
  return human_bytes(bytes) + " (" + with_commas(bytes) + " B)";
}

std::string with_commas(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string with_commas(std::int64_t value) {
  if (value >= 0) return with_commas(static_cast<std::uint64_t>(value));
  // Negated unsigned: the most negative value has no positive twin.
  return "-" + with_commas(std::uint64_t{0} - static_cast<std::uint64_t>(value));
}

std::size_t parse_bytes(std::string_view text) {
  std::string_view rest = text;
  std::string_view whole = take_digits(rest);
  if (whole.empty()) refuse(text, "no digit at the start");
  std::string_view fraction;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) refuse(text, "no digit after the point");
    if (fraction.size() > kMaxDigits) refuse(text, "more than 18 decimals");
  }
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  const std::uint64_t unit = bytes_in(rest);
  if (unit == 0) refuse(text, "unknown unit \"" + std::string(rest) + "\"");
  if (unit == 1 && !fraction.empty()) refuse(text, "a fraction of a byte");

  const std::string too_large = "more than 64 bits can hold";
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  Wide bytes = 0;
  for (const char c : whole) {
    bytes = bytes * 10 + static_cast<unsigned>(c - '0');
    if (bytes > kMax) refuse<TooManyBytes>(text, too_large);
  }
  bytes *= unit;
  Wide numerator = 0, denominator = 1;
  for (const char c : fraction) {
    numerator = numerator * 10 + static_cast<unsigned>(c - '0');
    denominator *= 10;
  }
  bytes += numerator * unit / denominator;
  if (bytes > kMax) refuse<TooManyBytes>(text, too_large);
  return static_cast<std::size_t>(bytes);
}

}  // namespace arenagrad
