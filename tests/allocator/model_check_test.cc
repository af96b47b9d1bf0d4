// Every strategy against its model on a few random sequences; script/check-strategies goes on for
// as long as it is told.
#include "tests/allocator/model_check.h"

#include <gtest/gtest.h>

#include <set>

#include "allocator/strategy.h"

namespace arenagrad::testing {
namespace {

TEST(ModelCheck, EveryStrategyThatSearchesHasAModel) {
  std::set<std::string_view> missing;
  for (const StrategyInfo& info : strategies()) {
    if (!info.offline) missing.insert(info.name);
  }
  for (const std::string_view name : modelled_strategies()) missing.erase(name);
  EXPECT_EQ(missing, std::set<std::string_view>{"bump"});
}

TEST(ModelCheck, StrategiesDoAsTheirModels) {
  for (const std::string_view name : modelled_strategies()) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      const std::string problem = check_against_model(name, seed);
      ASSERT_EQ(problem, "") << name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace arenagrad::testing
