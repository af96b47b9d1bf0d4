#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "allocator/traces/totals.h"
#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

using Json = nlohmann::json;

TEST(Perfetto, SlicesNestAndCountersFollow) {
  const auto trace = read_as("jsonl", small_trace());
  const Json events = Json::parse(write_as("perfetto", trace))["traceEvents"];
  std::vector<std::string> open, seen;
  std::map<std::string, std::size_t> counters;
  std::size_t instants = 0, time = 0;
  for (const auto& event : events) {
    ASSERT_GE(event["ts"], time);
    time = event["ts"];
    EXPECT_EQ(event["pid"], 1);
    const std::string kind = event["ph"];
    if (kind == "B") {
      open.push_back(event["name"]);
      std::string path;
      for (const auto& name : open) path += "/" + name;
      seen.push_back(path);
    } else if (kind == "E") {
      ASSERT_FALSE(open.empty());
      open.pop_back();
    } else if (kind == "C") {
      ASSERT_EQ(event["args"].size(), 1u);
      const auto [entry, is_new] = counters.try_emplace(event["name"], ~std::size_t{0});
      EXPECT_NE(entry->second, event["args"]["bytes"]) << "written without a change";
      entry->second = event["args"]["bytes"];
    } else if (kind == "i") {
      ++instants;
      EXPECT_EQ(event["name"], "out of memory");
      EXPECT_EQ(event["args"]["requested"], 9000000);
    } else {
      EXPECT_EQ(kind, "M");
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(seen,
            (std::vector<std::string>{
                "/setup", "/step 1", "/step 1/forward", "/step 1/forward/conv1", "/step 1/backward",
                "/step 1/backward/conv1", "/step 2", "/step 2/forward", "/step 2/forward/conv1"}));
  EXPECT_EQ(instants, 1u);
  EXPECT_EQ(counters, (std::map<std::string, std::size_t>{{"parameter", 100},
                                                          {"activation", 0},
                                                          {"workspace", 0},
                                                          {"activation_gradient", 0},
                                                          {"unknown", 50},
                                                          {"reserved", 2097152}}));
  EXPECT_EQ(events[0]["args"]["name"], "small \"net\"");
}

TEST(TraceTotals, CategoriesSumToTheLiveBytes) {
  TraceTotals totals;
  read_as("jsonl", small_trace()).replay(totals);
  EXPECT_EQ(totals.events, 17u);
  EXPECT_EQ(totals.allocations, 5u);
  EXPECT_EQ(totals.frees, 3u);
  EXPECT_EQ(totals.refusals, 1u);
  EXPECT_EQ(totals.driver_calls, 4u);
  EXPECT_EQ(totals.live, 2u);
  EXPECT_EQ(totals.live_bytes, 150u);
  EXPECT_EQ(totals.peak_bytes, 100u + 4000 + 2097152);
  std::size_t sum = totals.other_at_peak;
  for (const auto bytes : totals.at_peak) sum += bytes;
  EXPECT_EQ(sum, totals.peak_bytes);
  EXPECT_EQ(totals.at_peak[static_cast<std::size_t>(Category::activation)], 4000u);
}

}  // namespace
}  // namespace arenagrad::testing
