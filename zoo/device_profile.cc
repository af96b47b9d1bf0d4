#include "zoo/device_profile.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "allocator/fnv1a.h"
#include "zoo/catalogue.h"
#include "zoo/fields.h"
#include "zoo/hint.h"
#include "zoo/values.h"

namespace arenagrad {
namespace {

namespace fs = std::filesystem;
using cudnn::DeviceProperties;

struct Figure {
  std::string_view key;
  std::int64_t DeviceProperties::*member;
  std::int64_t least;
};

constexpr std::array kFigures{
    Figure{"memory", &DeviceProperties::memory, 1},
    Figure{"multiprocessors", &DeviceProperties::multiprocessors, 1},
    Figure{"threads_per_multiprocessor", &DeviceProperties::threads_per_multiprocessor, 1},
    Figure{"blocks_per_multiprocessor", &DeviceProperties::blocks_per_multiprocessor, 1},
    Figure{"shared_memory_optin", &DeviceProperties::shared_memory_optin, 1},
    Figure{"reserved_shared_memory", &DeviceProperties::reserved_shared_memory, 0},
    Figure{"l2_cache", &DeviceProperties::l2_cache, 1},
    Figure{"clock_khz", &DeviceProperties::clock_khz, 1},
    Figure{"memory_clock_khz", &DeviceProperties::memory_clock_khz, 1},
};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys{"name", "description", "device_name", "compute_capability"};
  for (const Figure& figure : kFigures) keys.push_back(figure.key);
  keys.push_back("sources");
  return keys;
}

/// cuDNN answers for 7.5 and newer.
void read_capability(const JsonValue& json, DeviceProperties& properties) {
  constexpr std::string_view kExpected = "[major, minor], of at least [7, 5]";
  if (!json.is(JsonValue::Kind::array) || json.items.size() != 2) fail_expected(json, kExpected);
  properties.compute_major = static_cast<int>(integer_value(*json.items[0], {}, 1, 99));
  properties.compute_minor = static_cast<int>(integer_value(*json.items[1], {}, 0, 9));
  if (properties.compute_major * 10 + properties.compute_minor < 75) fail_expected(json, kExpected);
}

/// Every figure is somebody's: say whose.
void check_sources(const JsonValue& json) {
  require_object(json, "an object of figures and their sources");
  for (const JsonValue* source : json.items) string_of(*source, "a source, as text");
}

std::optional<fs::path> devices_folder() {
  if (const auto zoo = zoo_folder()) return *zoo / "devices";
  return std::nullopt;
}

}  // namespace

DeviceProfile parse_device(std::string_view text, const std::string& file) {
  const auto document = JsonDocument::parse(text, file);
  const JsonValue& root = document->root();
  require_object(root, "a device profile: an object");
  refuse_unknown_keys(root, known_keys(), "a device profile");
  DeviceProfile profile;
  profile.path = file;
  const JsonValue& name = required(root, "name", "a name");
  profile.name = string_of(name, "a name");
  check_name(name, profile.name, "name");
  check_description(root);
  if (const JsonValue* description = root.find("description"))
    profile.description = description->text;
  profile.properties.name =
      string_of(required(root, "device_name", "the name that the driver gives it"), "a name");
  read_capability(required(root, "compute_capability", "[major, minor]"), profile.properties);
  for (const Figure& figure : kFigures)
    profile.properties.*figure.member = integer_value(required(root, figure.key, "an integer"), {},
                                                      static_cast<double>(figure.least));
  check_sources(required(root, "sources", "an object of figures and their sources"));
  return profile;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  const auto folder = devices_folder();
  if (!folder) return names;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(*folder, error))
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

DeviceProfile load_device(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".json"))
    return parse_device(read_text(name), name);
  const auto names = device_names();
  if (!std::ranges::binary_search(names, name)) {
    std::vector<std::string_view> known{"cpu", "cuda"};
    known.insert(known.end(), names.begin(), names.end());
    throw SpecError(name, "",
                    "no such device: expected cpu, cuda, cuda:N, the name of a profile, or a "
                    "profile's file, found none of them" +
                        hint(name, known));
  }
  const std::string path = (*devices_folder() / (name + ".json")).string();
  return parse_device(read_text(path), path);
}

std::vector<DeviceProfile> device_profiles() {
  std::vector<DeviceProfile> profiles;
  for (const std::string& name : device_names()) profiles.push_back(load_device(name));
  return profiles;
}

std::string hash_of(const cudnn::DeviceProperties& properties) {
  Fnv1a hash;
  hash.add(properties.json(0));
  return hash.text();
}

}  // namespace arenagrad
