// Comma-separated lines as MiniMalloc and RMM write them: a header of names, no quoting.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/traces/byte_source.h"

namespace arenagrad {

/// The rows of a file, field by field. Errors name the line.
class CsvRows {
 public:
  /// Reads the header. TraceError when there is none or when a name comes twice.
  explicit CsvRows(ByteSource& source);

  /// Where the column with one of these names stands; names are compared exactly.
  std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const;
  /// The same, and TraceError when there is none.
  std::size_t column(std::initializer_list<std::string_view> names) const;

  /// The next row that isn't empty, with as many fields as the header; false at the end.
  bool next();
  /// Spaces around a field are left out. Valid until `next`.
  std::string_view field(std::size_t column) const { return fields_[column]; }
  /// A whole number from 0 on; with `base` 16 a leading 0x is optional. TraceError names the
  /// column.
  std::uint64_t number(std::size_t column, int base = 10) const;

  [[noreturn]] void fail(const std::string& text) const { source_.fail_line(text); }

 private:
  void split(std::string_view line);

  ByteSource& source_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

}  // namespace arenagrad
