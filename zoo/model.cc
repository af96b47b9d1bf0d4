#include "zoo/model.h"

#include <filesystem>

#include "zoo/build.h"
#include "zoo/catalogue.h"
#include "zoo/json.h"
#include "zoo/spec.h"

namespace arenagrad {
namespace {

/// FNV-1a, 64 bits, as 16 hexadecimal digits.
std::string fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash >> shift) & 15];
  return out;
}

std::string default_name(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  return path == "-" || stem.empty() || stem == "<stdin>" ? "model" : stem;
}

}  // namespace

Model parse_model(std::string_view text, const std::string& file, const ModelOptions& options) {
  const auto document = JsonDocument::parse(text, file);
  const Spec spec = read_spec(*document);
  Model model;
  model.name = spec.name.empty() ? default_name(file) : spec.name;
  model.path = file;
  model.hash = fnv1a(text);
  build(spec, options, model);
  return model;
}

Model load_model(const std::string& path, const ModelOptions& options) {
  const std::string file = resolve_spec(path);
  Model model = parse_model(read_text(file), file == "-" ? "<stdin>" : file, options);
  model.path = path;
  return model;
}

}  // namespace arenagrad
