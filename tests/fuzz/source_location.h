// clang 14 and 15 have no std::source_location with GNU's library, whose own wants a builtin of
// theirs to come. For the fuzzers alone, which are built with whichever clang there is.
#pragma once

#include <source_location>

#ifndef __cpp_lib_source_location
namespace std {
class source_location {
 public:
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           unsigned line = __builtin_LINE()) {
    source_location result;
    result.file_ = file;
    result.line_ = line;
    return result;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
}  // namespace std
#endif
