#include "zoo/device_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace arenagrad {
namespace {

constexpr const char* kGood = R"({
  "name": "mine", "description": "A card", "device_name": "NVIDIA Mine",
  "compute_capability": [8, 6], "memory": 12629508096, "multiprocessors": 28,
  "threads_per_multiprocessor": 1536, "blocks_per_multiprocessor": 16,
  "shared_memory_optin": 101376, "reserved_shared_memory": 1024, "l2_cache": 2359296,
  "clock_khz": 1777000, "memory_clock_khz": 7501000, "sources": {"memory": "measured"}})";

std::string with(std::string from, std::string to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(DeviceProfile, IsReadAsWritten) {
  const DeviceProfile profile = parse_device(kGood, "mine.json");
  EXPECT_EQ(profile.name, "mine");
  EXPECT_EQ(profile.description, "A card");
  const cudnn::DeviceProperties expected{.name = "NVIDIA Mine",
                                         .compute_major = 8,
                                         .compute_minor = 6,
                                         .memory = 12629508096,
                                         .multiprocessors = 28,
                                         .threads_per_multiprocessor = 1536,
                                         .blocks_per_multiprocessor = 16,
                                         .shared_memory_optin = 101376,
                                         .reserved_shared_memory = 1024,
                                         .l2_cache = 2359296,
                                         .clock_khz = 1777000,
                                         .memory_clock_khz = 7501000};
  EXPECT_EQ(profile.properties, expected);
  EXPECT_EQ(hash_of(profile.properties), hash_of(expected));
  cudnn::DeviceProperties other = expected;
  ++other.l2_cache;
  EXPECT_NE(hash_of(other), hash_of(expected));
}

TEST(DeviceProfile, ErrorsSayWhereAndWhat) {
  const struct {
    std::string text, message;
  } rows[] = {
      {"[]", "mine.json: expected a device profile: an object, found an empty array"},
      {with("\"memory\": 12629508096", "\"memory\": 0"),
       "mine.json: /memory: expected an integer of at least 1, found 0"},
      {with("\"memory\": 12629508096", "\"memory\": \"12 GiB\""),
       "mine.json: /memory: expected an integer of at least 1, found \"12 GiB\""},
      {with("\"l2_cache\": 2359296,", ""),
       "mine.json: missing key 'l2_cache': expected an integer, found nothing"},
      {with("l2_cache", "l2_cach"),
       "mine.json: /l2_cach: unknown key 'l2_cach' of a device profile (did you mean 'l2_cache'?)"},
      {with("[8, 6]", "[7, 0]"),
       "mine.json: /compute_capability: expected [major, minor], of at least [7, 5], found an "
       "array of 2"},
      {with("[8, 6]", "8.6"),
       "mine.json: /compute_capability: expected [major, minor], of at least [7, 5], found 8.6"},
      {with("\"measured\"", "1"),
       "mine.json: /sources/memory: expected a source, as text, found 1"},
  };
  for (const auto& [text, message] : rows) {
    try {
      parse_device(text, "mine.json");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const SpecError& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

TEST(DeviceProfile, TheZooHasThemAndEachHasItsSources) {
  const std::vector<std::string> names = device_names();
  for (const char* name : {"t4", "rtx3060", "rtx3090", "rtx4090", "a10", "l4", "a100-40gb",
                           "a100-80gb", "h100", "h200", "b200"})
    EXPECT_TRUE(std::ranges::find(names, name) != names.end()) << name;
  for (const DeviceProfile& profile : device_profiles()) {
    EXPECT_TRUE(profile.path.ends_with("/" + profile.name + ".json")) << profile.path;
    EXPECT_FALSE(profile.description.empty());
    // Memory is never more than what the name promises, and not much less.
    std::ifstream file(profile.path);
    std::string sources = nlohmann::json::parse(file).at("sources").dump();
    for (const char* figure :
         {"memory", "multiprocessors", "threads_per_multiprocessor", "blocks_per_multiprocessor",
          "shared_memory_optin", "l2_cache", "clock_khz", "memory_clock_khz"})
      EXPECT_NE(sources.find(figure), std::string::npos) << profile.name << " " << figure;
  }
}

/// Ours for the H200 is what the recorded answers were given for.
TEST(DeviceProfile, DescribesTheRecordedDeviceToCudnn) {
  std::ifstream file(ARENAGRAD_SOURCE_DIR "/tests/data/cudnn/h200_device_properties.json");
  EXPECT_EQ(nlohmann::json::parse(load_device("h200").properties.json(91900)),
            nlohmann::json::parse(file));
}

TEST(DeviceProfile, NamesNearbyAreSuggested) {
  try {
    load_device("h20");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_EQ(error.message,
              "no such device: expected cpu, cuda, cuda:N, the name of a profile, or a profile's "
              "file, found none of them (did you mean 'h200'?)");
  }
  EXPECT_THROW(load_device("nowhere.json"), SpecError);
}

}  // namespace
}  // namespace arenagrad
