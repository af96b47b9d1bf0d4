#include "zoo/model.h"

#include <filesystem>

#include "allocator/fnv1a.h"
#include "zoo/build.h"
#include "zoo/catalogue.h"
#include "zoo/json.h"
#include "zoo/spec.h"

namespace arenagrad {
namespace {

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
  Fnv1a hash;
  hash.add(text);
  model.hash = hash.text();
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
