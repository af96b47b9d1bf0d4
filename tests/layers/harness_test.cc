// The harness notices what it is there to notice: layers that reach for what they did not declare.
#include "tests/layers/checks.h"

namespace arenagrad::testing {
namespace {

/// y = x with dx = dy, and something wrong that a test puts in.
class RogueLayer : public Layer {
 public:
  std::string_view op() const override { return "rogue"; }
  Signature signature(std::span<const Shape> inputs) const override {
    return {.output = inputs[0], .parameters = {}, .states = {}};
  }
  Needs needs(const Situation& situation) const override {
    Needs needs;
    needs.reads_inputs.assign(situation.inputs.size(), false);
    needs.keeps_inputs.assign(situation.inputs.size(), false);
    return needs;
  }
  void forward(ForwardContext& context) const override {
    context.backend().add(context.input(0), context.output(), Write::overwrite);
  }
  void backward(BackwardContext& context) const override {
    const GradientTarget dx = context.input_gradient(0);
    context.backend().add(context.output_gradient(), dx.tensor, dx.write);
  }
};

Values one_value() {
  Values values;
  values.inputs = {{3, 4, 5}};
  values.output_gradient = {1, 2, 3};
  return values;
}

Outcome run_rogue(const Layer& layer, const Scenario& scenario = {}) {
  return run({layer, {{3}}, 1}, scenario, one_value());
}

TEST(Harness, RunsAnHonestLayer) {
  const Outcome outcome = run_rogue(RogueLayer{});
  EXPECT_EQ(outcome.output, (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(outcome.input_gradients[0], (std::vector<double>{1, 2, 3}));
}

template <class Forward, class Backward>
class Rogue final : public RogueLayer {
 public:
  Rogue(Forward forward, Backward backward) : forward_(forward), backward_(backward) {}
  void forward(ForwardContext& context) const override {
    RogueLayer::forward(context);
    forward_(context);
  }
  void backward(BackwardContext& context) const override {
    RogueLayer::backward(context);
    backward_(context);
  }

 private:
  Forward forward_;
  Backward backward_;
};

template <class Forward>
void expect_refused_in_forward(Forward forward) {
  EXPECT_THROW(run_rogue(Rogue(forward, [](BackwardContext&) {})), ContractError);
}
template <class Backward>
void expect_refused_in_backward(Backward backward) {
  EXPECT_THROW(run_rogue(Rogue([](ForwardContext&) {}, backward)), ContractError);
}

TEST(Harness, RefusesWhatWasNotDeclared) {
  expect_refused_in_forward([](ForwardContext& c) { c.input(1); });
  expect_refused_in_forward([](ForwardContext& c) { c.stash(0); });
  expect_refused_in_forward([](ForwardContext& c) { c.state(0); });
  expect_refused_in_forward([](ForwardContext& c) { c.parameter(0); });
  expect_refused_in_forward([](ForwardContext& c) { c.workspace(); });
  expect_refused_in_backward([](BackwardContext& c) { c.input(0); });
  expect_refused_in_backward([](BackwardContext& c) { c.output(); });
  expect_refused_in_backward([](BackwardContext& c) { c.stash(0); });
  expect_refused_in_backward([](BackwardContext& c) { c.workspace(); });
  expect_refused_in_backward([](BackwardContext& c) { c.parameter_gradient(0); });
}

TEST(Harness, SeesWritesBesideABuffer) {
  expect_refused_in_forward([](ForwardContext& c) { c.output().as<double>()[3] = 1; });
  expect_refused_in_forward([](ForwardContext& c) { c.output().as<double>()[-1] = 1; });
  expect_refused_in_backward(
      [](BackwardContext& c) { c.input_gradient(0).tensor.as<double>()[3] = 1; });
}

/// Remembers a pointer from forward instead of declaring that it reads it.
class Hoarder final : public RogueLayer {
 public:
  void forward(ForwardContext& context) const override {
    RogueLayer::forward(context);
    kept_ = context.input(0);
  }
  void backward(BackwardContext& context) const override {
    context.backend().add(kept_, context.input_gradient(0).tensor, Write::overwrite);
  }

 private:
  mutable ConstTensor kept_;
};

TEST(Harness, TakesAwayWhatWasNotKept) {
  const double value = run_rogue(Hoarder{}).input_gradients[0][0];
  EXPECT_NE(value, value);
}

TEST(Harness, RunsInPlaceOnlyWithPermission) {
  Scenario scenario;
  scenario.forward_in_place = true;
  EXPECT_THROW(run_rogue(RogueLayer{}, scenario), ContractError);
  scenario.forward_in_place = false;
  scenario.backward_in_place = true;
  EXPECT_THROW(run_rogue(RogueLayer{}, scenario), ContractError);
}

}  // namespace
}  // namespace arenagrad::testing
