// Whole-net gradients in double: every mode against central differences, and against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "graph/execute.h"
#include "graph/plan.h"
#include "kernels/cpu/backend.h"
#include "tests/graph/small_net.h"

namespace arenagrad {
namespace {

/// Reads the gradients; before that, moves one parameter element by `shift`.
struct Probe : Observer {
  std::size_t parameter = 0, element = 0;
  double shift = 0;
  std::vector<std::vector<double>> gradients;

  void after_setup(RunAccess& run) override {
    if (shift == 0) return;
    Tensor t = run.tensor(run.program().parameters[parameter]);
    std::vector<double> values(static_cast<std::size_t>(t.shape.elements()));
    run.backend().copy_to_host(values.data(), t);
    values[element] += shift;
    run.backend().copy_from_host(t, values.data());
  }
  void gradients_ready(std::int64_t, const Section& section, RunAccess& run) override {
    for (BufferId id : section.gradients) {
      const Tensor t = run.tensor(id);
      gradients.emplace_back(static_cast<std::size_t>(t.shape.elements()));
      run.backend().copy_to_host(gradients.back().data(), t);
    }
  }
};

PlanOptions options_of(GradientMode mode, RunMode run_mode = RunMode::train,
                       SavedPolicy policy = SavedPolicy::lean) {
  PlanOptions o;
  o.batching = {5, 2};
  o.mode = mode;
  o.run = run_mode;
  o.policy = policy;
  o.dtype = DType::f64;
  return o;
}

double loss_of(const Tape& tape, const PlanOptions& o, Probe& probe) {
  const Program program = plan(tape, cpu_profile(), o);
  HostDriver driver(kUnlimited, cpu_profile().granule);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), program.alignment, {});
  arena.fill_new_memory_with(std::byte{0xff});
  CpuBackend backend(2);
  NoiseFeed feed(7);
  return execute(program, tape, arena,
                 {.steps = 1, .seed = 7, .backend = &backend, .feed = &feed, .observer = &probe})
      .losses[0];
}

double loss_of(const Tape& tape, GradientMode mode, RunMode run_mode, SavedPolicy policy,
               Probe& probe) {
  return loss_of(tape, options_of(mode, run_mode, policy), probe);
}

/// Some elements of each parameter's gradient against central differences of `judge`'s loss.
void expect_central_differences(const Tape& tape, const Probe& got, const PlanOptions& judge,
                                int elements) {
  std::mt19937 random(5);
  constexpr double kStep = 1e-6;
  ASSERT_EQ(got.gradients.size(), tape.parameters().size());
  for (std::size_t p = 0; p < got.gradients.size(); ++p)
    for (int tries = 0; tries < elements; ++tries) {
      Probe up, down;
      up.parameter = down.parameter = p;
      up.element = down.element = random() % got.gradients[p].size();
      up.shift = kStep;
      down.shift = -kStep;
      const double numeric = (loss_of(tape, judge, up) - loss_of(tape, judge, down)) / (2 * kStep);
      EXPECT_NEAR(got.gradients[p][up.element], numeric, 2e-8 + 1e-6 * std::abs(numeric))
          << tape.parameters()[p].name << "[" << up.element << "]";
    }
}

/// All of it against another gradient, relative to the largest element.
void expect_same_gradient(const Tape& tape, const Probe& got, const Probe& want, double limit) {
  ASSERT_EQ(got.gradients.size(), want.gradients.size());
  double largest = 0;
  for (const auto& gradient : want.gradients)
    for (const double value : gradient) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 0);
  for (std::size_t p = 0; p < want.gradients.size(); ++p)
    for (std::size_t i = 0; i < want.gradients[p].size(); ++i)
      EXPECT_NEAR(got.gradients[p][i], want.gradients[p][i], limit * largest)
          << tape.parameters()[p].name << "[" << i << "]";
}

class NetworkGradient : public testing::TestWithParam<std::tuple<RunMode, SavedPolicy>> {};

TEST_P(NetworkGradient, EveryModeEqualsCentralDifferences) {
  const auto [run_mode, policy] = GetParam();
  const bool coupled = run_mode == RunMode::train;
  const Tape tape = small_net(!coupled);  // batch statistics would make the modes differ
  Probe full;
  loss_of(tape, GradientMode::full_batch, run_mode, policy, full);

  for (GradientMode mode :
       {GradientMode::accumulated_graph, GradientMode::per_step, GradientMode::two_pass}) {
    Probe other;
    loss_of(tape, mode, run_mode, policy, other);
    ASSERT_EQ(other.gradients.size(), full.gradients.size());
    for (std::size_t p = 0; p < full.gradients.size(); ++p) {
      for (std::size_t i = 0; i < full.gradients[p].size(); ++i) {
        EXPECT_NEAR(other.gradients[p][i], full.gradients[p][i], 1e-13)
            << tape.parameters()[p].name << "[" << i << "] " << name(mode);
      }
    }
  }

  expect_central_differences(tape, full, options_of(GradientMode::per_step, run_mode, policy), 3);
}

/// Not by way of another gradient: two passes and forwards that run again, each against the loss
/// itself, which the full batch computes without either.
struct Way {
  std::string name;
  GradientMode mode;
  Recompute recompute;
  std::optional<CoupledLoss> loss;
};

class WaysToTheGradient : public testing::TestWithParam<Way> {};

TEST_P(WaysToTheGradient, AreTheLosssCentralDifferencesAndTheFullBatchs) {
  const auto& [name, mode, recompute, loss] = GetParam();
  const Tape tape = small_net(false, loss);
  auto options = options_of(mode);
  options.recompute = recompute;
  const auto whole = options_of(GradientMode::full_batch);
  Probe got, full;
  EXPECT_NEAR(loss_of(tape, options, got), loss_of(tape, whole, full), 1e-12);
  expect_same_gradient(tape, got, full, 1e-12);
  expect_central_differences(tape, got, whole, 2);
}

std::vector<Way> ways_to_the_gradient() {
  const Recompute root{.kind = Recompute::Kind::square_root};
  const Recompute each{.kind = Recompute::Kind::every, .every = 1};
  // In the middle of both branches and of an in-place chain, and in front of an alias.
  const Recompute inside{.kind = Recompute::Kind::before,
                         .layers = {"branch2", "lrn", "flatten", "fc2"}};
  using enum GradientMode;
  return {{"two_pass", two_pass, {}, {}},
          {"two_pass_of_mean_logits", two_pass, {}, CoupledLoss::cross_entropy_of_mean_logits},
          {"two_pass_of_variance", two_pass, {}, CoupledLoss::variance},
          {"two_pass_of_contrastive", two_pass, {}, CoupledLoss::contrastive},
          {"again_sqrt", full_batch, root, {}},
          {"again_each", per_step, each, {}},
          {"again_inside", accumulated_graph, inside, {}},
          {"two_pass_again", two_pass, inside, CoupledLoss::variance}};
}

INSTANTIATE_TEST_SUITE_P(All, WaysToTheGradient, testing::ValuesIn(ways_to_the_gradient()),
                         [](const auto& info) { return info.param.name; });

/// In train mode with batch statistics, which a second forward must make again and not count twice.
TEST(NetworkGradient, WithBatchStatisticsWhatRunsAgainIsTheLosssCentralDifferences) {
  const Tape tape = small_net(true);
  auto options = options_of(GradientMode::full_batch);
  Probe full, got;
  loss_of(tape, options, full);
  options.recompute = {.kind = Recompute::Kind::every, .every = 2};
  loss_of(tape, options, got);
  expect_same_gradient(tape, got, full, 1e-12);
  expect_central_differences(tape, got, options_of(GradientMode::full_batch), 2);
}

TEST(NetworkGradient, WithBatchStatisticsMicroBatchModesAgreeAndTheFullBatchDiffers) {
  const Tape tape = small_net(true);
  Probe full, graph, step;
  loss_of(tape, GradientMode::full_batch, RunMode::train, SavedPolicy::lean, full);
  loss_of(tape, GradientMode::accumulated_graph, RunMode::train, SavedPolicy::lean, graph);
  loss_of(tape, GradientMode::per_step, RunMode::train, SavedPolicy::lean, step);
  double apart = 0;
  for (std::size_t p = 0; p < full.gradients.size(); ++p) {
    for (std::size_t i = 0; i < full.gradients[p].size(); ++i) {
      EXPECT_NEAR(graph.gradients[p][i], step.gradients[p][i], 1e-12);
      apart = std::max(apart, std::abs(full.gradients[p][i] - step.gradients[p][i]));
    }
  }
  EXPECT_GT(apart, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Modes, NetworkGradient,
                         testing::Combine(testing::Values(RunMode::train, RunMode::eval),
                                          testing::Values(SavedPolicy::lean, SavedPolicy::pytorch)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace arenagrad
