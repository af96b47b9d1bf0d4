// Devices that are planned for in their absence: figures of a GPU in a JSON file, each with its
// source.
#pragma once

#include <string>
#include <vector>

#include "kernels/cudnn/device_properties.h"
#include "zoo/spec_error.h"

namespace arenagrad {

struct DeviceProfile {
  std::string name;  // "h200"
  std::string path;  // of its file
  std::string description;
  cudnn::DeviceProperties properties;
};

/// `name` is that of a profile in the zoo, or a path with a '/' or ending in ".json". Throws
/// SpecError.
DeviceProfile load_device(const std::string& name);
/// From text; `file` is for messages.
DeviceProfile parse_device(std::string_view text, const std::string& file);

/// Those that come with the program, sorted by name.
std::vector<std::string> device_names();
std::vector<DeviceProfile> device_profiles();

/// FNV-1a of everything that cuDNN is told: equal means equal answers of the same cuDNN.
std::string hash_of(const cudnn::DeviceProperties& properties);

}  // namespace arenagrad
