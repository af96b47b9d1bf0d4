// Whole-net gradients in double: every mode against central differences, and against each other.
#include <gtest/gtest.h>

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

double loss_of(const Tape& tape, GradientMode mode, RunMode run_mode, SavedPolicy policy,
               Probe& probe) {
  PlanOptions o;
  o.batching = {5, 2};
  o.mode = mode;
  o.run = run_mode;
  o.policy = policy;
  o.dtype = DType::f64;
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

  std::mt19937 random(5);
  constexpr double kStep = 1e-6;
  for (std::size_t p = 0; p < full.gradients.size(); ++p) {
    for (int tries = 0; tries < 3; ++tries) {
      Probe up, down;
      up.parameter = down.parameter = p;
      up.element = down.element = random() % full.gradients[p].size();
      up.shift = kStep;
      down.shift = -kStep;
      const double numeric = (loss_of(tape, GradientMode::per_step, run_mode, policy, up) -
                              loss_of(tape, GradientMode::per_step, run_mode, policy, down)) /
                             (2 * kStep);
      EXPECT_NEAR(full.gradients[p][up.element], numeric, 2e-8 + 1e-6 * std::abs(numeric))
          << tape.parameters()[p].name << "[" << up.element << "]";
    }
  }
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
