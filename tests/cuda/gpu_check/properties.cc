#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_check/checks.h"

namespace arenagrad::cuda_test {
namespace {

/// What one of the two says and the other doesn't, or says otherwise.
Json differences(const Json& profile, const Json& device) {
  Json found = Json::object();
  for (const auto& [key, value] : device.items())
    if (!profile.contains(key) || profile[key] != value)
      found[key] = {{"profile", profile.value(key, Json())}, {"device", value}};
  for (const auto& [key, value] : profile.items())
    if (!device.contains(key)) found[key] = {{"profile", value}, {"device", nullptr}};
  return found;
}

}  // namespace

Verdict check_properties(const DeviceProfile* profile, std::string& properties, Json& details) {
  properties = cuda::device_properties(0);
  const Json device = Json::parse(properties);
  details["properties"] = device;
  details["profile"] = nullptr;
  std::string summary = std::to_string(device.size()) + " figures";
  if (profile != nullptr) {
    const Json described = Json::parse(profile->properties.json(cuda::find_gpus().cudnn));
    const Json different = differences(described, device);
    details["profile"] = profile->name;
    details["differences"] = different;
    summary += different.empty() ? ", all as in profile " : ", other than in profile ";
    summary += profile->name;
    for (const auto& [key, values] : different.items())
      summary += (key == different.begin().key() ? ": " : ", ") + key;
  } else {
    summary += "; no profile has a GPU of this name";
  }
  details["summary"] = summary;
  // Answers are what counts, not figures: see check_engines.
  return verdict(!device.empty());
}

}  // namespace arenagrad::cuda_test
