// Footprints on known problems: the figures that make one strategy better than another.
#include <gtest/gtest.h>

#include "allocator/strategy.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

std::size_t footprint(std::string_view strategy, const Trace& trace) {
  SimulatedDriver driver(kUnlimited, 1);
  const auto made = find_strategy(strategy).make({driver, trace.alignment, {}});
  std::size_t most = 0;
  for (const Op& op : trace.ops) {
    if (op.allocate) {
      made->place(trace.request(op.id));
    } else {
      made->release(op.id);
    }
    most = std::max(most, made->usage().footprint);
  }
  return most;
}

struct Height {
  std::string_view strategy;
  std::size_t resnet50, g_1;
  double most;  // of the first, in percent above the lower bound
};

constexpr Height kHeights[] = {
    {"best-fit", 1520092676, 3040663228, 0.31},  {"first-fit", 1528512004, 3057964734, 0.87},
    {"tlsf", 1520092676, 3043808956, 0.5},       {"bfc", 1554534400, 3058000384, 2.6},
    {"expandable", 1547698176, 3047161856, 2.2}, {"caching", 1688207360, 3099590656, 11.6},
    {"stitch", 1692401664, 3103784960, 11.8},    {"buddy", 2030043136, 5368709120, 34},
};

TEST(StrategyHeights, TrainingGraphs) {
  const Trace resnet50 = trace_of("resnet50", load_problem("idealloc/resnet50.csv"));
  const Trace g_1 = trace_of("G_1", load_problem("idealloc/G_1.csv"));
  const auto bound = static_cast<double>(lower_bound(resnet50.lifetimes(), false));
  for (const Height& height : kHeights) {
    SCOPED_TRACE(height.strategy);
    EXPECT_EQ(footprint(height.strategy, resnet50), height.resnet50);
    EXPECT_EQ(footprint(height.strategy, g_1), height.g_1);
    EXPECT_LE(static_cast<double>(height.resnet50), bound * (1 + height.most / 100));
  }
}

// Sizes times 1024, so that rounding and segments matter as little as they do for whole networks.
TEST(StrategyHeights, HardLifetimes) {
  const std::pair<std::string_view, double> means[] = {{"best-fit", 57.7}, {"first-fit", 57.2},
                                                       {"tlsf", 59.9},     {"bfc", 70.0},
                                                       {"caching", 136.9}, {"expandable", 58.3}};
  for (const auto& [strategy, expected] : means) {
    double sum = 0;
    for (char name = 'A'; name <= 'K'; ++name) {
      auto problem = load_problem(std::string("minimalloc/") + name + ".1048576.csv");
      for (Lifetime& lifetime : problem) lifetime.bytes *= 1024;
      sum += static_cast<double>(footprint(strategy, trace_of("", problem))) /
                 static_cast<double>(lower_bound(problem, false)) -
             1;
    }
    EXPECT_NEAR(100 * sum / 11, expected, 0.1) << strategy;
  }
}

}  // namespace
}  // namespace arenagrad::testing
