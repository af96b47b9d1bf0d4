#include <gtest/gtest.h>

#include <set>
#include <string>

#include "allocator/nearest.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

std::string message_for(std::string_view name) {
  try {
    find_strategy(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Strategies, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const StrategyInfo& info : strategies()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.summary.empty());
    EXPECT_EQ(info.offline, info.name.starts_with("plan:")) << info.name;
    EXPECT_EQ(&find_strategy(info.name), &info);
    EXPECT_FALSE(info.opaque) << info.name;
  }
  for (const StrategyInfo& info : opaque_strategies()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(&find_strategy(info.name), &info);
    EXPECT_TRUE(info.opaque) << info.name;
  }
}

TEST(Strategies, PlannersGoByTheirBareNameToo) {
  EXPECT_EQ(find_strategy("greedy-size").name, "plan:greedy-size");
  EXPECT_THROW(find_strategy("plan:bump"), Error);
}

TEST(Strategies, UnknownNamesAreAnswered) {
  std::string list;
  for (const StrategyInfo& info : strategies()) {
    list += (list.empty() ? "" : ", ") + std::string(info.name);
  }
  for (const StrategyInfo& info : opaque_strategies()) list += ", " + std::string(info.name);
  EXPECT_EQ(message_for("best-fitt"), "unknown strategy; expected one of " + list +
                                          "; got \"best-fitt\"; did you mean best-fit?");
  EXPECT_NE(message_for("plan:gredy-size").find("did you mean plan:greedy-size?"),
            std::string::npos);
  EXPECT_NE(message_for("firstfit").find("did you mean first-fit?"), std::string::npos);
  EXPECT_EQ(message_for("xyz").find("did you mean"), std::string::npos);
  EXPECT_EQ(message_for("").find("did you mean"), std::string::npos);
}

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("stride", "strides"), 1u);
  EXPECT_EQ(edit_distance("padding", "paddng"), 1u);
}

TEST(Nearest, TheFirstAmongTheNearestOrNone) {
  const std::string_view names[] = {"kernel", "stride", "padding", "groups"};
  EXPECT_EQ(nearest_name("strid", names), "stride");
  EXPECT_EQ(nearest_name("pading", names), "padding");
  EXPECT_EQ(nearest_name("zzz", names), "");
  EXPECT_EQ(nearest_name("kernel", {}), "");
  const std::string_view twins[] = {"aac", "aab"};
  EXPECT_EQ(nearest_name("aaa", twins), "aac");
}

}  // namespace
}  // namespace arenagrad
