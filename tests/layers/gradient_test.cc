// Every layer's backward against differences of its forward, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/layers/differences.h"

namespace arenagrad::testing {
namespace {

class LayerGradient : public ::testing::TestWithParam<Variant> {};

void expect_gradients(const Gradients& expected, const Outcome& outcome, Write write) {
  const auto expect_all = [&](const char* what, const std::vector<List>& by_differences,
                              const std::vector<List>& by_backward) {
    ASSERT_EQ(by_differences.size(), by_backward.size()) << what;
    for (std::size_t i = 0; i < by_differences.size(); ++i) {
      List want = by_differences[i];
      const double scale = std::max(largest(want), 1e-2);
      if (write == Write::accumulate)
        for (std::size_t k = 0; k < want.size(); ++k) want[k] += prior_gradient(k);
      EXPECT_LE(largest_difference(want, by_backward[i]), 1e-8 * scale) << what << " " << i;
    }
  };
  expect_all("input", expected.inputs, outcome.input_gradients);
  expect_all("parameter", expected.parameters, outcome.parameter_gradients);
}

TEST_P(LayerGradient, EqualsDifferences) {
  const Variant& variant = GetParam();
  const std::unique_ptr<Layer> layer = variant.make();
  constexpr std::uint64_t kSeed = 11;
  const Values values = draw_values(variant, *layer, kSeed);
  for (const RunMode mode : modes_of(variant)) {
    Scenario scenario;
    scenario.mode = mode;
    const Gradients expected = gradients_by_differences(variant, *layer, scenario, values);
    for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch})
      for (const Write write : {Write::overwrite, Write::accumulate}) {
        SCOPED_TRACE(std::string(mode == RunMode::train ? "train" : "eval") +
                     (policy == SavedPolicy::lean ? " lean" : " pytorch") +
                     (write == Write::overwrite ? " overwrite" : " accumulate") + " seed " +
                     std::to_string(kSeed));
        scenario.policy = policy;
        scenario.write = write;
        expect_gradients(expected, run({*layer, variant.inputs, variant.batch}, scenario, values),
                         write);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(, LayerGradient, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

class LargeLayerGradient : public ::testing::TestWithParam<Variant> {};

/// Directions of the shapes of `like`, the same ones each time.
std::vector<List> directions_like(const std::vector<List>& like) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<List> directions = like;
  for (List& direction : directions)
    for (double& component : direction) component = uniform(engine);
  return directions;
}

void expect_along(const std::vector<List>& directions, const std::vector<List>& derivatives,
                  const std::vector<List>& gradients) {
  ASSERT_EQ(derivatives.size(), gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].empty()) continue;
    double along = 0, squares = 0;
    for (std::size_t k = 0; k < gradients[i].size(); ++k) {
      along += directions[i][k] * gradients[i][k];
      squares += gradients[i][k] * gradients[i][k];
    }
    EXPECT_NEAR(derivatives[i].at(0), along, 1e-8 * std::sqrt(squares)) << i;
  }
}

TEST_P(LargeLayerGradient, EqualsDifferencesAlongADirection) {
  const Variant& variant = GetParam();
  const std::unique_ptr<Layer> layer = variant.make();
  const Values values = draw_values(variant, *layer, 12);
  for (const RunMode mode : modes_of(variant)) {
    Scenario scenario;
    scenario.mode = mode;
    const Outcome outcome = run({*layer, variant.inputs, variant.batch}, scenario, values);
    const Gradients directions{directions_like(outcome.input_gradients),
                               directions_like(outcome.parameter_gradients)};
    const Gradients derivatives = derivatives_along(directions, variant, *layer, scenario, values);
    expect_along(directions.inputs, derivatives.inputs, outcome.input_gradients);
    expect_along(directions.parameters, derivatives.parameters, outcome.parameter_gradients);
  }
}

INSTANTIATE_TEST_SUITE_P(, LargeLayerGradient, ::testing::ValuesIn(large_variants()),
                         [](const auto& info) { return info.param.name; });

/// A difference quotient notices an error of one part in ten thousand, so the limit above means
/// something.
TEST(Differences, NoticeASlightlyWrongGradient) {
  const Variant& variant = variants().front();
  const std::unique_ptr<Layer> layer = variant.make();
  const Values values = draw_values(variant, *layer, 1);
  const Gradients gradients = gradients_by_differences(variant, *layer, {}, values);
  List wrong = gradients.inputs[0];
  EXPECT_GT(largest(wrong), 0.1);
  for (double& value : wrong) value *= 1.0001;
  EXPECT_GT(largest_difference(wrong, gradients.inputs[0]), 1e-5);
}

/// Values stay so far from kinks that no difference quotient crosses one.
TEST(DrawnValues, KeepAwayFromKinks) {
  for (const Variant& variant : variants()) {
    const Values values = draw_values(variant, *variant.make(), 11);
    List sorted = values.inputs[0];
    std::sort(sorted.begin(), sorted.end());
    const bool at_six = variant.kinks == Kinks::at_zero_and_six;
    const bool at_zero = at_six || variant.kinks == Kinks::at_zero;
    const bool at_ties = variant.kinks == Kinks::at_ties;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      EXPECT_FALSE(at_zero && std::abs(sorted[i]) < 0.99 * kKinkMargin) << variant.name;
      EXPECT_FALSE(at_six && std::abs(sorted[i] - 6) < 0.99 * kKinkMargin) << variant.name;
      EXPECT_FALSE(at_ties && i > 0 && sorted[i] - sorted[i - 1] < 1.9 * kKinkMargin)
          << variant.name;
    }
  }
}

}  // namespace
}  // namespace arenagrad::testing
