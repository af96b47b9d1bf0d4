#include "allocator/traces/csv.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace arenagrad {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

constexpr std::size_t kMostColumns = 64;

}  // namespace

CsvRows::CsvRows(ByteSource& source) : source_(source) {
  std::string_view line;
  if (!source_.line(line)) source_.fail_line("expected a header, got an empty file");
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // a byte order mark
  split(line);
  names_.assign(fields_.begin(), fields_.end());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i), names_[i]) !=
        names_.begin() + static_cast<std::ptrdiff_t>(i)) {
      fail("header: expected each column once, got " + quoted_excerpt(names_[i]) + " twice");
    }
  }
}

std::optional<std::size_t> CsvRows::find(std::initializer_list<std::string_view> names) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::find(names.begin(), names.end(), names_[i]) != names.end()) return i;
  }
  return std::nullopt;
}

std::size_t CsvRows::column(std::initializer_list<std::string_view> names) const {
  const auto found = find(names);
  if (!found) fail("header: expected a column '" + std::string(*names.begin()) + "', got none");
  return *found;
}

bool CsvRows::next() {
  std::string_view line;
  do {
    if (!source_.line(line)) return false;
  } while (trimmed(line).empty());
  split(line);
  if (fields_.size() != names_.size()) {
    fail("row: expected " + std::to_string(names_.size()) + " fields, got " +
         std::to_string(fields_.size()));
  }
  return true;
}

void CsvRows::split(std::string_view line) {
  fields_.clear();
  for (;;) {
    const auto comma = line.find(',');
    fields_.push_back(trimmed(line.substr(0, comma)));
    if (fields_.size() > kMostColumns) {
      fail("row: expected at most " + std::to_string(kMostColumns) + " fields, got more");
    }
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

std::uint64_t CsvRows::number(std::size_t column, int base) const {
  const std::string_view text = fields_[column];
  std::string_view digits = text;
  if (base == 16 && (digits.starts_with("0x") || digits.starts_with("0X"))) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    fail(names_[column] + ": expected a whole number from 0 to 2^64 - 1, got " +
         quoted_excerpt(text));
  }
  return value;
}

}  // namespace arenagrad
