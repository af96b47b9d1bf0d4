// The files that a command line names to be written, judged when the flags are read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arenagrad::cli {

/// Whether two paths lead to one file, links followed, which may be yet to be written. What is
/// there and neither a file nor a folder (a device, a pipe) loses nothing and is never the same.
bool same_file(const std::string& a, const std::string& b);

class Outputs {
 public:
  /// Takes note of the file that `flag` names and gives its path back; "-" is standard output.
  /// Found out now rather than after the work: throws UsageError where its folder is missing, where
  /// it is a folder itself, and where another flag names the same file, since the one written later
  /// would be all that is left. What is there and not a regular file (a device, a pipe) may be
  /// named twice.
  std::string add(std::string_view flag, const std::string& path);

 private:
  std::vector<std::pair<std::string, std::string>> taken_;  // file, flag
};

}  // namespace arenagrad::cli
