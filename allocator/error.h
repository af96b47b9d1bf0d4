// The error tree. Every error the program raises on purpose derives from Error; what it says is, in
// this order: what, expected, got, where. Anything else that escapes is a bug.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace arenagrad {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A promise between two parts of this program was broken: a bug here, never the user's input.
class ContractError : public Error {
 public:
  explicit ContractError(const std::string& what,
                         std::source_location where = std::source_location::current())
      : Error(what + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")") {}
};

/// Throws ContractError unless `holds`. Cheap enough to stay on in release builds.
inline void check_contract(bool holds, const char* what,
                           std::source_location where = std::source_location::current()) {
  if (!holds) throw ContractError(what, where);
}

}  // namespace arenagrad
