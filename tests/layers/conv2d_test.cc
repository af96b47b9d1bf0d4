#include <cmath>

#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

Window square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t padding = 0,
              std::int64_t dilation = 1) {
  return {{kernel, kernel}, {stride, stride}, {padding, padding}, {dilation, dilation}};
}

TEST(Conv2d, FindsItsShapes) {
  EXPECT_EQ(output_of(*conv2d({64, square(7, 2, 3)}), {{3, 224, 224}}), (Shape{64, 112, 112}));
  EXPECT_EQ(output_of(*conv2d({64, square(11, 4, 2)}), {{3, 224, 224}}), (Shape{64, 55, 55}));
  EXPECT_EQ(output_of(*conv2d({4, square(3, 2, 0, 2)}), {{1, 10, 9}}), (Shape{4, 3, 3}));
  EXPECT_EQ(output_of(*conv2d({4, {{1, 3}, {2, 1}, {0, 1}}}), {{2, 6, 5}}), (Shape{4, 3, 5}));
}

TEST(Conv2d, CountsParametersAndMultiplyAdds) {
  const Signature s = signature_of(*conv2d({64, square(7, 2, 3), 1, false}), {{3, 224, 224}});
  ASSERT_EQ(s.parameters.size(), 1u);
  EXPECT_EQ(s.parameters[0].shape, (Shape{64, 3, 7, 7}));
  EXPECT_EQ(s.multiply_adds, 118013952);  // ResNet's first layer

  const Signature grouped = signature_of(*conv2d({8, square(3, 1, 1), 4}), {{12, 5, 5}});
  ASSERT_EQ(grouped.parameters.size(), 2u);
  EXPECT_EQ(grouped.parameters[0].name, "weight");
  EXPECT_EQ(grouped.parameters[0].shape, (Shape{8, 3, 3, 3}));
  EXPECT_EQ(grouped.parameters[1].name, "bias");
  EXPECT_EQ(grouped.parameters[1].shape, (Shape{8}));
  EXPECT_EQ(grouped.multiply_adds, 8 * 25 * 27);
}

TEST(Conv2d, StartsAsAsked) {
  const auto start = [](InitRule rule) {
    return signature_of(*conv2d({8, square(3), 2, true, rule}), {{4, 5, 5}}).parameters;
  };
  const auto pytorch = start({});
  for (const ParameterSpec& parameter : pytorch) {
    EXPECT_EQ(parameter.init.kind, Initializer::Kind::uniform);
    EXPECT_DOUBLE_EQ(parameter.init.scale, 1 / std::sqrt(2.0 * 9));  // fan_in: 4 / 2 channels
  }
  const auto kaiming = start({InitRule::Kind::kaiming_fan_out});
  EXPECT_EQ(kaiming[0].init.kind, Initializer::Kind::normal);
  EXPECT_DOUBLE_EQ(kaiming[0].init.scale, std::sqrt(2 / (8.0 * 9)));  // groups not divided out
  EXPECT_EQ(kaiming[1].init.kind, Initializer::Kind::constant);
  EXPECT_EQ(kaiming[1].init.scale, 0);
  const auto normal = start({InitRule::Kind::normal, 0.01});
  EXPECT_EQ(normal[0].init.kind, Initializer::Kind::normal);
  EXPECT_EQ(normal[0].init.scale, 0.01);
  EXPECT_EQ(normal[1].init.scale, 0);
}

TEST(Conv2d, ReadsItsInputInBothPolicies) {
  const auto layer = conv2d({4, square(3)});
  for (const Scenario& scenario : {lean(), pytorch(), lean(RunMode::eval)}) {
    const Needs needs = needs_for(*layer, {{3, 8, 8}}, scenario);
    EXPECT_TRUE(needs.reads_inputs[0]);
    EXPECT_FALSE(needs.reads_output);
    EXPECT_TRUE(needs.stashes.empty());
    EXPECT_TRUE(needs.samples_independent);
    EXPECT_FALSE(needs.forward_in_place || needs.backward_in_place);
  }
}

/// Answers with numbers that tell the calls apart.
class RecognisablePlanner final : public KernelPlanner {
 public:
  ConvChoice convolution(const ConvProblem&, ConvPass pass, Write write) const override {
    const bool adds = write == Write::accumulate;
    switch (pass) {
      case ConvPass::forward: return {1, 100};
      case ConvPass::backward_data: return {2, adds ? 400u : 200u};
      case ConvPass::backward_filter:
        return {adds ? filter_accumulate_engine : 3, adds ? 310u : 300u};
    }
    return {};
  }
  std::size_t linear_workspace(const LinearProblem&, ConvPass) const override { return 0; }
  std::size_t batch_norm_workspace(const BatchNormProblem&, bool) const override { return 0; }

  std::int64_t filter_accumulate_engine = 3;
};

TEST(Conv2d, DeclaresEnginesAndTheLargestScratch) {
  const auto layer = conv2d({4, square(3)});
  const std::vector<Shape> inputs{{3, 8, 8}};
  RecognisablePlanner planner;
  Profile profile;
  profile.kernels = &planner;
  Situation situation{.batch = 2,
                      .inputs = inputs,
                      .output = output_of(*layer, inputs),
                      .dtype = DType::f32,
                      .mode = RunMode::train,
                      .policy = SavedPolicy::lean,
                      .profile = profile,
                      .input_needs_gradient = {true}};
  Needs needs = layer->needs(situation);
  EXPECT_EQ(needs.forward_engine, 1);
  EXPECT_EQ(needs.backward_data_engine, 2);
  EXPECT_EQ(needs.backward_filter_engine, 3);
  EXPECT_EQ(needs.forward_workspace, 100u);
  EXPECT_EQ(needs.backward_workspace, 300u);
  EXPECT_EQ(needs.add_to_input_workspace, 400u);
  EXPECT_EQ(needs.add_to_parameter_workspace, 310u);
  EXPECT_TRUE(needs.accumulates);

  situation.input_needs_gradient = {false};
  needs = layer->needs(situation);
  EXPECT_EQ(needs.backward_workspace, 300u);
  EXPECT_EQ(needs.add_to_input_workspace, 0u);
  EXPECT_EQ(needs.backward_data_engine, kNoEngine);

  // Another engine to accumulate than to overwrite: the planner has to add by itself.
  planner.filter_accumulate_engine = 9;
  needs = layer->needs(situation);
  EXPECT_FALSE(needs.accumulates);
  EXPECT_EQ(needs.backward_workspace, 300u);

  situation.mode = RunMode::no_grad;
  EXPECT_EQ(layer->needs(situation).backward_workspace, 0u);
  EXPECT_EQ(layer->needs(situation).forward_workspace, 100u);
}

TEST(Conv2d, ComputesACrossCorrelation) {
  const auto layer = conv2d({1, square(2, 1, 1)});
  const std::vector<Shape> inputs{{1, 2, 2}};
  Values values;
  values.inputs = {{1, 2, 3, 4}};
  values.parameters = {{1, 10, 100, 1000}, {0.5}};
  Scenario scenario;
  scenario.saves = false;
  EXPECT_EQ(run({*layer, inputs, 1}, scenario, values).output,
            (std::vector<double>{1000.5, 2100.5, 200.5, 3010.5, 4321.5, 402.5, 30.5, 43.5, 4.5}));
}

TEST(Conv2d, RefusesWhatCannotMeet) {
  expect_error<ShapeError>(
      [] {
        output_of(*conv2d({4, square(9)}), {{3, 8, 8}});
      },
      {"conv2d", "kernel no larger than its padded input 8x8", "got kernel 9x9"});
  expect_error<ShapeError>(
      [] {
        output_of(*conv2d({4, square(3, 1, 1, 5)}), {{3, 8, 8}});
      },
      {"10x10", "padding 1x1", "dilated to 11x11"});
  expect_error<ShapeError>(
      [] {
        output_of(*conv2d({4, square(3), 2}), {{3, 8, 8}});
      },
      {"3 channels", "3x8x8", "2 groups"});
  expect_error<ShapeError>([] { output_of(*conv2d({4, square(3)}), {{10}}); }, {"CxHxW", "got 10"});
  expect_error<ShapeError>(
      [] {
        output_of(*conv2d({4, square(3)}), {{3, 8, 8}, {3, 8, 8}});
      },
      {"expected 1 input", "got 2"});
  expect_error<Error>([] { conv2d({5, square(3), 2}); }, {"5 out_channels", "2 groups"});
  expect_error<Error>([] { conv2d({0, square(3)}); }, {"out_channels", "got 0"});
  expect_error<Error>([] { conv2d({4, square(0)}); }, {"kernel", "got 0"});
  expect_error<Error>([] { conv2d({4, square(3, 0)}); }, {"stride", "got 0"});
  expect_error<Error>([] { conv2d({4, square(3, 1, -1)}); }, {"padding", "got -1"});
  expect_error<Error>([] { conv2d({4, square(3, 1, 0, 0)}); }, {"dilation", "got 0"});
  expect_error<Error>([] { conv2d({4, square(3), 0}); }, {"groups", "got 0"});
  expect_error<Error>([] { conv2d({4, square(std::int64_t{1} << 40)}); }, {"kernel"});
}

TEST(Conv2d, SizesBeyond64BitsAreErrors) {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 31) - 1;
  EXPECT_THROW(output_of(*conv2d({kLarge, square(1)}), {{1, kLarge, kLarge}}), ShapeError);
  EXPECT_THROW(output_of(*conv2d({2, square(1)}), {{1, std::int64_t{1} << 62, 1}}), ShapeError);
}

}  // namespace
}  // namespace arenagrad::testing
