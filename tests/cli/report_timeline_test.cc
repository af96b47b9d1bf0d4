#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <sstream>

#include "cli/report/address_map.h"
#include "cli/report/digits.h"
#include "cli/report/timeline.h"
#include "tests/cli/support.h"

namespace arenagrad::cli {
namespace {

using test::arenagrad;
using test::contains;
using What = TimelineEvent::What;

TEST(Digits, ReadBack) {
  std::string text;
  std::vector<std::uint64_t> values = {0, 1, 31, 32, 1023, 1024, ~std::uint64_t{0}};
  for (unsigned bit = 0; bit < 64; ++bit) values.push_back(std::uint64_t{1} << bit);
  for (const auto value : values) put_digits(text, value);
  DigitReader reader(text);
  for (const auto value : values) EXPECT_EQ(reader.next(), value);
  EXPECT_TRUE(reader.done());
  EXPECT_THROW(reader.next(), Error);
}

TEST(Digits, SmallNumbersTakeOneLetter) {
  std::string text;
  put_digits(text, zigzag(-16));
  EXPECT_EQ(text, "f");
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                   std::int64_t{0}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Digits, RefuseWhatIsNone) {
  EXPECT_THROW(DigitReader("!").next(), Error);
  EXPECT_THROW(DigitReader("g").next(), Error);               // more should follow
  EXPECT_THROW(DigitReader("_____________A").next(), Error);  // 65 bits
  EXPECT_THROW(DigitReader("____________f").next(), Error);
}

/// Two layers, a buffer for each micro-batch, a driver call, and lives that repeat.
Timeline example() {
  Timeline timeline;
  timeline.alignment = 64;
  timeline.layers = {"conv1", "fc"};
  timeline.scopes = {{"setup", -1}, {"forward", 0}, {"backward", 1}};
  timeline.kinds = {{"conv1.weight", Category::parameter, "2x3 f32", 24, 0, false},
                    {"fc output", Category::activation, "1x10 f32", 40, 1, true}};
  timeline.events = {{What::commit, 0, 0, -1, 0, 0, 0, std::uint64_t{1} << 60},
                     {What::allocate, 0, 0, -1, 7, 0, 128, 64}};
  for (std::int64_t step = 1; step <= 3; ++step)
    for (std::int64_t micro = 0; micro < 2; ++micro) {
      const std::uint64_t offset = step == 1 ? 192 : 0;
      timeline.events.push_back({What::allocate, 1, step, micro, 3, 1, offset, 64});
      timeline.events.push_back({What::free, 2, step, micro, 3, 1, offset, 64});
    }
  timeline.events.push_back({What::free, 0, 0, -1, 7, 0, 128, 64});
  return timeline;
}

void expect_equal(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.alignment, b.alignment);
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.scopes, b.scopes);
  EXPECT_EQ(a.kinds, b.kinds);
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    auto expected = a.events[i];
    if (expected.what != What::allocate && expected.what != What::free) expected.buffer = 0;
    EXPECT_EQ(expected, b.events[i]) << "event " << i + 1;
  }
}

TEST(Timeline, ReadsBack) {
  const auto timeline = example();
  const auto json = to_json(timeline);
  expect_equal(timeline, read_timeline(json));
  expect_equal(timeline, read_timeline(Json::parse(json.dump())));
}

TEST(Timeline, TotalsPeakAndWhatIsLive) {
  const auto timeline = example();
  const auto totals = live_totals(timeline);
  EXPECT_EQ(totals[0], 0u);
  EXPECT_EQ(totals[1], 24u);
  EXPECT_EQ(totals[2], 64u);
  EXPECT_EQ(totals.back(), 0u);
  EXPECT_EQ(peak_event(totals), 3u);
  const auto live = live_after(timeline, 3);
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(timeline.name_of(live[0]), "conv1.weight");
  EXPECT_EQ(timeline.name_of(live[1]), "fc output (micro-batch 0)");
  const auto bytes = by_category(timeline, live);
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::activation)], 40u);
}

TEST(Timeline, CompositionsAreWhatIsLive) {
  const auto timeline = example();
  const std::vector<std::size_t> events = {7, 0, 3, 3, timeline.events.size()};
  const auto all = compositions(timeline, events);
  ASSERT_EQ(all.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(all[i], by_category(timeline, live_after(timeline, events[i]))) << events[i];
}

TEST(Timeline, RefusesWhatIsNone) {
  const auto refused = [](auto change) {
    auto json = to_json(example());
    change(json);
    EXPECT_THROW(read_timeline(json), Error) << json.dump();
  };
  refused([](Json& json) { json.erase("code"); });
  refused([](Json& json) { json["events"] = 3; });
  refused([](Json& json) { json["kinds"][0]["category"] = "nonsense"; });
  refused([](Json& json) { json["kinds"][0]["layer"] = 2; });
  refused([](Json& json) { json["scopes"] = Json::array(); });
  refused([](Json& json) { json["code"] = json["code"].get<std::string>() + "A"; });  // frees twice
  refused([](Json& json) { json["code"] = "H"; });
}

/// Whatever the text, it is read or refused.
TEST(Timeline, BrokenCodeIsAnErrorOrATimeline) {
  std::mt19937 random(7);
  const auto whole = to_json(example());
  const auto code = whole["code"].get<std::string>();
  std::size_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    auto json = whole;
    auto text = code;
    text[random() % text.size()] = "AHf9_-gzQ!"[random() % 10];
    json["code"] = text;
    try {
      const auto timeline = read_timeline(json);
      live_totals(timeline);
      AddressMap{timeline};
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST(AddressMap, CutsShortWhatNobodyUses) {
  Timeline timeline;
  timeline.kinds = {{"a", Category::activation, "", 1000, -1, false}};
  const auto at = [&](std::uint64_t offset) {
    timeline.events.push_back({What::allocate, 0, 0, -1, 0, 0, offset, 1000});
  };
  at(0);
  at(1010);                    // a hole keeps its size
  at(std::uint64_t{1} << 40);  // a desert doesn't
  const AddressMap map(timeline);
  EXPECT_EQ(map.place(999), 999u);
  EXPECT_EQ(map.place(1010), 1010u);
  EXPECT_EQ(map.place((std::uint64_t{1} << 40) + 5), 2010u + 60u + 5u);
  EXPECT_EQ(map.top(), 2010u + 60u + 1000u);
}

// --- of real runs --------------------------------------------------------------------------------

nlohmann::json planned(std::vector<std::string> more) {
  std::vector<std::string> arguments = {"plan", "lenet5", "--events", "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arenagrad(arguments).json();
}

TEST(Timeline, OfARunAgreesWithItsBooks) {
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--batch", "4"},
           {"--batch", "5", "--micro-batch", "2", "--mode", "per-step", "--steps", "3"},
           {"--batch", "4", "--mode", "accumulated-graph", "--micro-batch", "1"},
           {"--batch", "4", "--optimizer", "adam", "--strategy", "caching"}}) {
    const auto json = planned(more);
    const auto timeline = read_timeline(json.at("timeline"));
    EXPECT_EQ(timeline.events.size(), json.at("events").get<std::size_t>());
    const auto totals = live_totals(timeline);
    const auto peak = peak_event(totals);
    EXPECT_EQ(totals[peak - 1], json.at("bytes").at("peak_requested").get<std::size_t>());
    const auto bytes = by_category(timeline, live_after(timeline, peak));
    for (std::size_t c = 0; c < kCategoryCount; ++c)
      EXPECT_EQ(bytes[c], json.at("bytes")
                              .at("by_category_at_peak")
                              .at(std::string(kCategoryNames[c]))
                              .get<std::size_t>());
    EXPECT_EQ(timeline.name_of(timeline.events[peak - 1]),
              json.at("peak_at").at("buffer").get<std::string>());
    EXPECT_EQ(timeline.scopes[timeline.events[peak - 1].scope].phase,
              json.at("peak_at").at("phase").get<std::string>());
    EXPECT_EQ(totals.back(), 0u);
  }
}

/// Micro-batches are counted; the trace names them one by one.
TEST(Timeline, BuffersHaveTheNamesOfTheTrace) {
  test::TemporaryFolder folder;
  for (const std::string mode : {"per-step", "accumulated-graph", "two-pass"}) {
    const auto path = folder.path(mode);
    const auto timeline = read_timeline(planned({"--batch", "7", "--micro-batch", "2", "--mode",
                                                 mode, "--steps", "3", "--trace", path + ".jsonl"})
                                            .at("timeline"));
    std::istringstream trace(test::read_file(path + ".jsonl"));
    std::size_t event = 0, named = 0;
    for (std::string line; std::getline(trace, line);) {
      const auto json = Json::parse(line);
      const auto op = json.value("op", "");
      if (op.empty() || op == "scope") continue;
      ASSERT_LT(event, timeline.events.size());
      if (op == "allocate") {
        EXPECT_EQ(timeline.name_of(timeline.events[event]), json["name"].get<std::string>());
        named += contains(json["name"].get<std::string>(), "(micro-batch 3)");
      }
      ++event;
    }
    EXPECT_EQ(event, timeline.events.size());
    EXPECT_GT(named, 0u);  // the last one, which is smaller
  }
}

TEST(Timeline, IsNullWithoutTheFlag) {
  EXPECT_TRUE(arenagrad({"plan", "lenet5", "--json", "-"}).json().at("timeline").is_null());
}

TEST(Timeline, RepeatedStepsTakeTwoLettersAnEvent) {
  const auto one = planned({"--steps", "2"}), many = planned({"--steps", "52"});
  const auto letters = [](const nlohmann::json& json) {
    return json.at("timeline").at("code").get<std::string>().size();
  };
  const auto events = [](const nlohmann::json& json) { return json.at("events").get<double>(); };
  EXPECT_LT(static_cast<double>(letters(many) - letters(one)) / (events(many) - events(one)), 4);
}

}  // namespace
}  // namespace arenagrad::cli
