#include "zoo/spec_error.h"

#include <utility>

namespace arenagrad {

SpecError::SpecError(std::string file, std::string pointer, std::string message)
    : SpecError(file + ": " + pointer + (pointer.empty() ? "" : ": ") + message, file, pointer,
                message, 0, 0) {}

SpecError SpecError::syntax(std::string file, std::size_t line, std::size_t column,
                            std::string message) {
  const std::string what =
      file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message;
  return SpecError(what, std::move(file), "", std::move(message), line, column);
}

SpecError::SpecError(const std::string& what, std::string file, std::string pointer,
                     std::string message, std::size_t line, std::size_t column)
    : Error(what),
      file(std::move(file)),
      pointer(std::move(pointer)),
      message(std::move(message)),
      line(line),
      column(column) {}

}  // namespace arenagrad
