#include "zoo/catalogue.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "zoo/hint.h"
#include "zoo/json.h"
#include "zoo/model.h"

namespace arenagrad {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "spec.schema";

/// Its models' path without ".json" is the name.
std::optional<fs::path> if_zoo(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_regular_file(folder / (std::string(kSchema) + ".json"), ignored)) return folder;
  return std::nullopt;
}

std::string read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char chunk[1 << 14];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file)) {
    text.append(chunk, count);
    if (text.size() > kMostBytes) {
      throw SpecError(
          name, "",
          "too long: expected at most " + std::to_string(kMostBytes >> 20) + " MiB, found more");
    }
  }
  if (std::ferror(file)) {
    throw SpecError(
        name, "",
        std::string("cannot be read: expected a JSON file, found: ") + std::strerror(errno));
  }
  return text;
}

}  // namespace

std::string read_text(const std::string& path) {
  if (path == "-") return read_all(stdin, "<stdin>");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) {
    throw SpecError(
        path, "",
        std::string("cannot be opened: expected a JSON file, found: ") + std::strerror(errno));
  }
  return read_all(file.get(), path);
}

std::optional<fs::path> zoo_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = (program.parent_path() / ARENAGRAD_ZOO_FROM_BIN).lexically_normal();
    if (auto folder = if_zoo(installed)) return folder;
  }
  return if_zoo(ARENAGRAD_ZOO_SOURCE);
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  const auto folder = zoo_folder();
  if (!folder) return names;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(*folder, error)) {
    const fs::path& path = file.path();
    if (path.extension() == ".json" && path.stem() != kSchema) names.push_back(path.stem());
  }
  std::ranges::sort(names);
  return names;
}

std::string resolve_spec(const std::string& path) {
  if (path == "-" || path.find('/') != path.npos || path.ends_with(".json")) return path;
  const std::vector<std::string> names = zoo_names();
  if (std::ranges::binary_search(names, path)) {
    return (*zoo_folder() / (path + ".json")).string();
  }
  std::error_code error;
  if (fs::exists(path, error)) return path;
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw SpecError(path, "",
                  "no such model: expected a spec's file or the name of a model in the zoo, found "
                  "neither" +
                      hint(path, known));
}

std::vector<ZooEntry> zoo_models() {
  std::vector<ZooEntry> models;
  for (const std::string& name : zoo_names()) {
    const std::string path = (*zoo_folder() / (name + ".json")).string();
    const auto document = JsonDocument::parse(read_text(path), path);
    const JsonValue* description = document->root().find("description");
    models.push_back({name, path, description ? description->text : ""});
  }
  return models;
}

}  // namespace arenagrad
