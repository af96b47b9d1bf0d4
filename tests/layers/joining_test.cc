// The layers that only move or sum: add, concat, flatten.
#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

using List = std::vector<double>;

List forward(const Layer& layer, const std::vector<Shape>& inputs, std::int64_t batch,
             const std::vector<List>& x) {
  Values values;
  values.inputs = x;
  Scenario scenario;
  scenario.saves = false;
  return run({layer, inputs, batch}, scenario, values).output;
}

TEST(Add, Sums) {
  EXPECT_EQ(forward(*add(), {{2}, {2}}, 1, {{1, 2}, {10, 20}}), (List{11, 22}));
  EXPECT_EQ(forward(*add(), {{2}, {2}, {2}}, 1, {{1, 2}, {10, 20}, {100, 200}}), (List{111, 222}));
}

TEST(Add, KeepsNothingAndPassesTheGradientOn) {
  for (const Scenario& scenario : {lean(), pytorch()}) {
    const Needs needs = needs_for(*add(), {{3, 2, 2}, {3, 2, 2}}, scenario);
    EXPECT_TRUE(needs.gradient_passes_through);
    EXPECT_TRUE(needs.forward_in_place);
    EXPECT_EQ(needs.reads_inputs, (std::vector<bool>{false, false}));
    EXPECT_EQ(needs.keeps_inputs, (std::vector<bool>{false, false}));
    EXPECT_FALSE(needs.reads_output);
  }
}

TEST(Add, RunsInPlaceOnlyWithTwoInputs) {
  // x + y + x over x: the second sum would read what the first one left there.
  EXPECT_FALSE(needs_for(*add(), {{2}, {2}, {2}}, lean()).forward_in_place);
}

TEST(Add, RefusesWhatCannotMeet) {
  expect_error<ShapeError>(
      [] {
        output_of(*add(), {{8, 4, 4}, {8, 3, 4}});
      },
      {"add", "8x4x4 and 8x3x4"});
  expect_error<ShapeError>([] { output_of(*add(), {{8}}); }, {"at least 2 inputs", "got 1"});
}

TEST(Concat, JoinsChannels) {
  EXPECT_EQ(output_of(*concat(), {{2, 3, 4}, {5, 3, 4}, {1, 3, 4}}), (Shape{8, 3, 4}));
  EXPECT_EQ(
      forward(*concat(), {{1, 1, 2}, {2, 1, 2}}, 2, {{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}}),
      (List{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
}

TEST(Concat, KeepsNothing) {
  for (const Scenario& scenario : {lean(), pytorch()}) {
    const Needs needs = needs_for(*concat(), {{1, 2, 2}, {3, 2, 2}}, scenario);
    EXPECT_FALSE(needs.gradient_passes_through || needs.alias || needs.reads_output);
    EXPECT_EQ(needs.reads_inputs, (std::vector<bool>{false, false}));
    EXPECT_EQ(needs.keeps_inputs, (std::vector<bool>{false, false}));
    EXPECT_TRUE(needs.stashes.empty());
  }
}

TEST(Concat, RefusesWhatCannotMeet) {
  expect_error<ShapeError>(
      [] {
        output_of(*concat(), {{8, 4, 4}, {8, 4, 3}});
      },
      {"concat", "8x4x4 and 8x4x3"});
  expect_error<ShapeError>([] { output_of(*concat(), {{8, 4, 4}, {8}}); }, {"8x4x4 and 8"});
  expect_error<ShapeError>([] { output_of(*concat(), {{8}}); }, {"at least 2 inputs", "got 1"});
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  expect_error<ShapeError>([] { output_of(*concat(), {{kLarge}, {kLarge}}); }, {"64 bits"});
}

TEST(Flatten, IsAnAlias) {
  EXPECT_EQ(output_of(*flatten(), {{2, 3, 4}}), (Shape{24}));
  EXPECT_EQ(output_of(*flatten(), {{7}}), (Shape{7}));
  EXPECT_TRUE(needs_for(*flatten(), {{2, 3, 4}}, lean()).alias);
  EXPECT_TRUE(needs_for(*flatten(), {{2, 3, 4}}, pytorch()).alias);
}

TEST(Flatten, IsACopyWhereElementsLieInAnotherOrder) {
  Profile profile;
  profile.layout = Layout::nhwc;
  const auto is_alias = [&](const Shape& input) {
    return flatten()
        ->needs({.batch = 2,
                 .inputs = std::span(&input, 1),
                 .output = Shape{input.elements()},
                 .dtype = DType::f32,
                 .mode = RunMode::train,
                 .policy = SavedPolicy::lean,
                 .profile = profile,
                 .input_needs_gradient = {true}})
        .alias;
  };
  EXPECT_FALSE(is_alias({2, 3, 4}));
  EXPECT_TRUE(is_alias({2, 1, 1}));
  EXPECT_TRUE(is_alias({1, 3, 4}));
  EXPECT_TRUE(is_alias({2, 12}));  // no image
}

}  // namespace
}  // namespace arenagrad::testing
