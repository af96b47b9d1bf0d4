#pragma once

#include <cstddef>
#include <string>

#include "allocator/error.h"

namespace arenagrad {

/// A spec that cannot be read. what() is "FILE:LINE:COLUMN: ..." for syntax, "FILE: /json/pointer:
/// ..." for everything else; always with what was expected and what was found.
class SpecError : public Error {
 public:
  /// `pointer` is a JSON pointer (RFC 6901); empty for the whole document.
  SpecError(std::string file, std::string pointer, std::string message);
  /// Text that is not JSON; line and column count from 1, columns in bytes.
  static SpecError syntax(std::string file, std::size_t line, std::size_t column,
                          std::string message);

  std::string file, pointer, message;
  std::size_t line = 0, column = 0;  // of a syntax error, else 0

 private:
  SpecError(const std::string& what, std::string file, std::string pointer, std::string message,
            std::size_t line, std::size_t column);
};

}  // namespace arenagrad
