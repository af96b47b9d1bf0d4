#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

TEST(LocalResponseNorm, SumsAWindowThatLeansDownWhenEven) {
  // Two places, channels 1 2 3; size 2 covers channels c-1 and c.
  const auto layer = local_response_norm({2, 0.5, 1, 2});
  Values values;
  values.inputs = {{1, 0, 2, 0, 3, 1}};
  values.output_gradient = List(6, 1);
  const Outcome outcome = run({*layer, {{3, 2}}, 1}, {}, values);
  const List scale{2.25, 2, 2 + 0.25 * 5, 2, 2 + 0.25 * 13, 2.25};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(outcome.stashes[0][i], scale[i], 1e-14) << i;
    EXPECT_NEAR(outcome.output[i], values.inputs[0][i] / scale[i], 1e-14) << i;
  }
}

TEST(LocalResponseNorm, KeepsInputAndScale) {
  const auto layer = local_response_norm({5});
  const Needs needs = needs_for(*layer, {{8, 3, 2}}, lean(), 4);
  EXPECT_TRUE(needs.reads_inputs[0]);
  EXPECT_FALSE(needs.reads_output);
  ASSERT_EQ(needs.stashes.size(), 1u);
  EXPECT_EQ(bytes_of(needs.stashes[0]), 4u * 4 * 8 * 6);
  EXPECT_TRUE(needs.stashes[0].per_sample);
}

TEST(LocalResponseNorm, KeepsWhatPytorchsChainOfOperationsDoes) {
  // Squares padded to C + size - 1 planes, the base and its power, for each sample.
  const Needs needs = needs_for(*local_response_norm({5}), {{8, 3, 2}}, pytorch(), 4);
  EXPECT_TRUE(needs.reads_inputs[0]);
  ASSERT_EQ(needs.stashes.size(), 3u);
  std::size_t bytes = 0;
  for (const StashSpec& stash : needs.stashes) {
    EXPECT_TRUE(stash.per_sample);
    EXPECT_EQ(stash.shape[0], 4);
    bytes += bytes_of(stash);
  }
  EXPECT_EQ(bytes, 4u * 4 * 6 * (12 + 8 + 8));
}

TEST(LocalResponseNorm, RefusesWhatCannotMeet) {
  expect_error<Error>([] { local_response_norm({0}); }, {"size", "got 0"});
  expect_error<ShapeError>([] { output_of(*local_response_norm({5}), {{8}}); },
                           {"local_response_norm", "got 8"});
}

}  // namespace
}  // namespace arenagrad::testing
