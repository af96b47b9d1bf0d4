// Passes that don't run in one piece: two passes over the batch, and stretches that run again in
// backward. Their gradients are held against the full batch, their books against the dry run.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/execute.h"
#include "graph/plan.h"
#include "kernels/cpu/backend.h"
#include "tests/graph/small_net.h"

namespace arenagrad {
namespace {

/// All gradients of the last step and the state after it.
struct Reader : Observer {
  std::vector<std::vector<double>> gradients, states;

  static std::vector<double> read(RunAccess& run, BufferId id) {
    const Tensor t = run.tensor(id);
    std::vector<double> values(static_cast<std::size_t>(t.shape.elements()));
    if (t.dtype == DType::f64) {
      run.backend().copy_to_host(values.data(), t);
    } else {
      std::vector<std::int64_t> counts(values.size());
      run.backend().copy_to_host(counts.data(), t);
      values.assign(counts.begin(), counts.end());
    }
    return values;
  }
  void gradients_ready(std::int64_t, const Section& section, RunAccess& run) override {
    gradients.clear();
    for (BufferId id : section.gradients) gradients.push_back(read(run, id));
  }
  void after_step(std::int64_t, double, RunAccess& run) override {
    states.clear();
    for (BufferId id : run.program().states) states.push_back(read(run, id));
  }
};

struct Outcome {
  Reader reader;
  std::vector<double> losses;
  std::size_t peak = 0, saved = 0;
};

/// Runs for real and dry, and compares the two ledgers.
Outcome outcome(const Tape& tape, const PlanOptions& options) {
  constexpr std::int64_t kSteps = 2;
  const Program program = plan(tape, cpu_profile(), options);
  Outcome result;
  Ledger real, dry;
  {
    HostDriver driver(kUnlimited, cpu_profile().granule);
    Arena arena(driver, real, find_strategy("best-fit"), program.alignment, {});
    arena.fill_new_memory_with(std::byte{0xff});
    CpuBackend backend(2);
    NoiseFeed feed(7);
    result.losses = execute(program, tape, arena,
                            {.steps = kSteps,
                             .seed = 7,
                             .backend = &backend,
                             .feed = &feed,
                             .observer = &result.reader})
                        .losses;
  }
  SimulatedDriver driver(kUnlimited, cpu_profile().granule);
  Arena arena(driver, dry, find_strategy("best-fit"), program.alignment, {});
  execute(program, tape, arena, {.steps = kSteps, .seed = 7});
  EXPECT_EQ(real.digest(), dry.digest());
  EXPECT_EQ(real.totals(), dry.totals());
  result.peak = real.peak().requested;
  result.saved = saved_bytes(program, tape).total;
  return result;
}

PlanOptions options(GradientMode mode, std::int64_t batch, std::int64_t micro,
                    RunMode run = RunMode::train) {
  PlanOptions o;
  o.batching = {batch, micro};
  o.mode = mode;
  o.run = run;
  o.dtype = DType::f64;
  o.optimizer = {.kind = OptimizerSpec::Kind::sgd, .learning_rate = 0.05};
  return o;
}

void expect_near(const Reader& a, const Reader& b, double limit) {
  ASSERT_EQ(a.gradients.size(), b.gradients.size());
  for (std::size_t p = 0; p < a.gradients.size(); ++p) {
    for (std::size_t i = 0; i < a.gradients[p].size(); ++i) {
      ASSERT_NEAR(a.gradients[p][i], b.gradients[p][i], limit) << p << "[" << i << "]";
    }
  }
}

TEST(TwoPass, TheGradientIsTheFullBatchsAtAnyMicroBatch) {
  const Tape tape = small_net(false);  // with dropout: both passes draw the same masks
  const Outcome full = outcome(tape, options(GradientMode::full_batch, 7, 7));
  for (std::int64_t micro : {1, 2, 3, 7}) {
    SCOPED_TRACE(micro);
    const Outcome two = outcome(tape, options(GradientMode::two_pass, 7, micro));
    expect_near(two.reader, full.reader, 1e-13);
    EXPECT_NEAR(two.losses[1], full.losses[1], 1e-13);
  }
}

TEST(TwoPass, TakesAStepsMemoryAndTheOutputs) {
  const Tape tape = small_net(false);
  const auto step = outcome(tape, options(GradientMode::per_step, 40, 2));
  const auto two = outcome(tape, options(GradientMode::two_pass, 40, 2));
  EXPECT_LE(two.peak, step.peak + 2 * 40 * (5 * sizeof(double) + sizeof(std::int64_t)) + 4096);
  EXPECT_LT(two.peak, outcome(tape, options(GradientMode::accumulated_graph, 40, 2)).peak / 2);
}

TEST(TwoPass, StatisticsOfABatchAreRefusedByName) {
  try {
    plan(small_net(true), cpu_profile(), options(GradientMode::two_pass, 4, 2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("got bn in train mode"), std::string::npos)
        << error.what();
  }
  plan(small_net(true), cpu_profile(), options(GradientMode::two_pass, 4, 2, RunMode::eval));
}

TEST(TwoPass, WithoutGradientsOneForwardIsLeft) {
  const Tape tape = small_net(false);
  auto o = options(GradientMode::two_pass, 5, 2, RunMode::no_grad);
  o.optimizer = {};
  auto whole = options(GradientMode::full_batch, 5, 5, RunMode::no_grad);
  whole.optimizer = {};
  EXPECT_NEAR(outcome(tape, o).losses[0], outcome(tape, whole).losses[0], 1e-14);
}

class CoupledLosses : public testing::TestWithParam<CoupledLoss> {};

TEST_P(CoupledLosses, FullBatchAccumulatedGraphAndTwoPassAgree) {
  const Tape tape = small_net(false, GetParam());
  const Outcome full = outcome(tape, options(GradientMode::full_batch, 7, 7));
  for (GradientMode mode : {GradientMode::accumulated_graph, GradientMode::two_pass}) {
    for (std::int64_t micro : {1, 3, 7}) {
      SCOPED_TRACE(std::string(name(mode)) + " in " + std::to_string(micro) + "s");
      const Outcome other = outcome(tape, options(mode, 7, micro));
      expect_near(other.reader, full.reader, 1e-12);
      EXPECT_NEAR(other.losses[1], full.losses[1], 1e-12);
    }
  }
}

TEST_P(CoupledLosses, PerStepIsRefusedWithTheReason) {
  const Tape tape = small_net(false, GetParam());
  EXPECT_THROW(plan(tape, cpu_profile(), options(GradientMode::per_step, 7, 2)), Error);
  plan(tape, cpu_profile(), options(GradientMode::per_step, 7, 7));  // one micro-batch: the batch
}

TEST_P(CoupledLosses, RecomputationChangesNoBit) {
  const Tape tape = small_net(false, GetParam());
  for (GradientMode mode : {GradientMode::accumulated_graph, GradientMode::two_pass}) {
    PlanOptions o = options(mode, 5, 2);
    const Outcome once = outcome(tape, o);
    o.recompute = {.kind = Recompute::Kind::every, .every = 2};
    EXPECT_EQ(outcome(tape, o).reader.gradients, once.reader.gradients);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CoupledLosses,
                         testing::Values(CoupledLoss::cross_entropy_of_mean_logits,
                                         CoupledLoss::variance, CoupledLoss::contrastive));

class Recomputed : public testing::TestWithParam<std::tuple<GradientMode, bool, SavedPolicy, int>> {
};

Recompute way(int which) {
  switch (which) {
    case 0: return {.kind = Recompute::Kind::square_root};
    case 1: return {.kind = Recompute::Kind::every, .every = 1};
    case 2: return {.kind = Recompute::Kind::every, .every = 2};
    default:
      // In the middle of both branches and of an in-place chain, and in front of an alias.
      return {.kind = Recompute::Kind::before, .layers = {"branch2", "lrn", "flatten", "fc2"}};
  }
}

TEST_P(Recomputed, GradientsStatisticsAndLossesAreTheSameBits) {
  const auto [mode, with_batch_norm, policy, which] = GetParam();
  if (mode == GradientMode::two_pass && with_batch_norm) GTEST_SKIP() << "refused";
  const Tape tape = small_net(with_batch_norm);
  PlanOptions o = options(mode, 5, 2);
  o.policy = policy;
  const Outcome once = outcome(tape, o);
  o.recompute = way(which);
  const Outcome again = outcome(tape, o);
  EXPECT_EQ(again.reader.gradients, once.reader.gradients);
  EXPECT_EQ(again.reader.states, once.reader.states);
  EXPECT_EQ(again.losses, once.losses);
}

TEST_P(Recomputed, LessIsSaved) {
  const auto [mode, with_batch_norm, policy, which] = GetParam();
  if (mode == GradientMode::two_pass && with_batch_norm) GTEST_SKIP() << "refused";
  const Tape tape = small_net(with_batch_norm);
  PlanOptions o = options(mode, 5, 2);
  o.policy = policy;
  const auto saved = saved_bytes(plan(tape, cpu_profile(), o), tape).total;
  o.recompute = way(which);
  EXPECT_LT(saved_bytes(plan(tape, cpu_profile(), o), tape).total, saved);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Recomputed,
    testing::Combine(testing::Values(GradientMode::full_batch, GradientMode::accumulated_graph,
                                     GradientMode::per_step, GradientMode::two_pass),
                     testing::Bool(), testing::Values(SavedPolicy::lean, SavedPolicy::pytorch),
                     testing::Range(0, 4)));

TEST(Recompute, AnUnknownLayerIsNamed) {
  auto o = options(GradientMode::full_batch, 2, 2);
  o.recompute = {.kind = Recompute::Kind::before, .layers = {"fc1", "nowhere"}};
  EXPECT_THROW(plan(small_net(false), cpu_profile(), o), Error);
}

}  // namespace
}  // namespace arenagrad
