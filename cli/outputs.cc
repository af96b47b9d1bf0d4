#include "cli/outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/parse.h"

namespace arenagrad::cli {

std::string Outputs::add(std::string_view flag, const std::string& path) {
  namespace fs = std::filesystem;
  if (path == "-") return path;
  std::error_code ignored;  // whatever else is wrong with a path, opening it will say
  const auto folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw UsageError(fmt::format("{}: cannot write {}: no such folder", flag, path));
  if (fs::is_directory(path, ignored))
    throw UsageError(fmt::format("{}: cannot write {}: it is a folder", flag, path));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return path;
  const auto file = fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
  if (file.empty()) return path;
  for (const auto& [other, its_flag] : taken_)
    if (other == file)
      throw UsageError(fmt::format("{}: expected a file of its own, got {}, which {} writes too",
                                   flag, path, its_flag));
  taken_.emplace_back(file, flag);
  return path;
}

}  // namespace arenagrad::cli
