#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/parse.h"

namespace arenagrad::cli {

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_other(fs::status(a, error))) return false;
  if (fs::equivalent(a, b, error)) return true;
  const auto place = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  const auto one = place(a), other = place(b);
  return !one.empty() && one == other;
}

std::string Outputs::add(std::string_view flag, const std::string& path) {
  namespace fs = std::filesystem;
  if (path == "-") return path;
  std::error_code ignored;  // whatever else is wrong with a path, opening it will say
  const auto folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw UsageError(fmt::format("{}: cannot write {}: no such folder", flag, path));
  if (fs::is_directory(path, ignored))
    throw UsageError(fmt::format("{}: cannot write {}: it is a folder", flag, path));
  for (const auto& [other, its_flag] : taken_)
    if (same_file(path, other))
      throw UsageError(fmt::format("{}: expected a file of its own, got {}, which {} writes too",
                                   flag, path, its_flag));
  taken_.emplace_back(path, flag);
  return path;
}

}  // namespace arenagrad::cli
