#include "graph/execute.h"

#include <gtest/gtest.h>

#include <cstring>

#include "allocator/smallest_capacity.h"
#include "graph/plan.h"
#include "kernels/cpu/backend.h"
#include "tests/graph/small_net.h"

namespace arenagrad {
namespace {

const GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                               GradientMode::per_step};

PlanOptions options(GradientMode mode, std::int64_t batch = 7, std::int64_t micro = 2) {
  PlanOptions options;
  options.batching = {batch, micro};
  options.mode = mode;
  options.optimizer = {.kind = OptimizerSpec::Kind::sgd, .learning_rate = 0.05, .momentum = 0.9};
  return options;
}

struct Books {
  Totals totals;
  Snapshot peak;
  std::uint64_t events, digest;
  std::vector<BufferId> live_at_peak;
  std::vector<double> losses;
};

struct Setting {
  std::string_view strategy = "best-fit";
  std::int64_t steps = 3;
  int threads = 2;
  std::size_t capacity = kUnlimited;
  std::optional<std::byte> fill = std::byte{0xff};
  Observer* observer = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
};

Books run(const Program& program, const Tape& tape, bool real, const Setting& s = {}) {
  const Profile profile = cpu_profile();
  std::unique_ptr<Driver> driver;
  if (real) {
    driver = std::make_unique<HostDriver>(s.capacity, profile.granule);
  } else {
    driver = std::make_unique<SimulatedDriver>(s.capacity, profile.granule);
  }
  Ledger ledger;
  Arena arena(*driver, ledger, find_strategy(s.strategy), program.alignment,
              lifetimes(program, s.steps));
  CpuBackend backend(s.threads);
  NoiseFeed feed(1);
  ExecuteOptions o{
      .steps = s.steps, .seed = 1, .observer = s.observer, .interrupted = s.interrupted};
  if (real) {
    arena.fill_new_memory_with(s.fill);
    o.backend = &backend;
    o.feed = &feed;
  }
  try {
    const RunResult result = execute(program, tape, arena, o);
    return {ledger.totals(), ledger.peak(),         ledger.events(),
            ledger.digest(), ledger.live_at_peak(), result.losses};
  } catch (...) {
    EXPECT_TRUE(ledger.live_now().empty()) << "memory leaks on the way out";
    throw;
  }
}

void expect_same_books(const Books& a, const Books& b) {
  EXPECT_EQ(a.totals, b.totals);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.peak.requested, b.peak.requested);
  EXPECT_EQ(a.peak.by_category, b.peak.by_category);
  EXPECT_EQ(a.peak.position, b.peak.position);
  EXPECT_EQ(a.live_at_peak, b.live_at_peak);
}

TEST(Execute, DryRunsEqualRealRuns) {
  const Tape tape = small_net(true);
  for (GradientMode mode : kModes) {
    for (SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
      PlanOptions o = options(mode);
      o.policy = policy;
      o.calibrate = true;
      const Program program = plan(tape, cpu_profile(), o);
      for (const StrategyInfo& strategy : strategies()) {
        SCOPED_TRACE(std::string(name(mode)) + " " + std::string(strategy.name));
        expect_same_books(run(program, tape, false, {.strategy = strategy.name}),
                          run(program, tape, true, {.strategy = strategy.name}));
      }
    }
  }
}

TEST(Execute, StrategiesThreadsAndFillsDoNotChangeABit) {
  const Tape tape = small_net(true);
  for (GradientMode mode : kModes) {
    const Program program = plan(tape, cpu_profile(), options(mode));
    const std::vector<double> losses = run(program, tape, true).losses;
    EXPECT_EQ(losses.size(), 3u);
    EXPECT_LT(losses[2], losses[0] * 2);
    for (const StrategyInfo& strategy : strategies()) {
      EXPECT_EQ(run(program, tape, true, {.strategy = strategy.name}).losses, losses);
    }
    for (int threads : {1, 3}) {
      EXPECT_EQ(run(program, tape, true, {.threads = threads}).losses, losses);
    }
    EXPECT_EQ(run(program, tape, true, {.fill = std::byte{0}}).losses, losses);
    EXPECT_EQ(run(program, tape, true, {.fill = std::nullopt}).losses, losses);
  }
}

TEST(Execute, ASkippedRoundLeavesTheSameBooksAsAnExecutedOne) {
  // bump has new offsets each round and skips nothing; best-fit skips. Both equal their real runs
  // at 12 micro-steps and 6 steps.
  const Tape tape = small_net(false);
  const Program program = plan(tape, cpu_profile(), options(GradientMode::per_step, 23, 2));
  for (std::string_view strategy : {"bump", "best-fit", "first-fit", "plan:greedy-size"}) {
    expect_same_books(run(program, tape, false, {.strategy = strategy, .steps = 6}),
                      run(program, tape, true, {.strategy = strategy, .steps = 6}));
  }
}

TEST(Execute, RunsAtItsFootprintAndNotOneByteUnder) {
  const Tape tape = small_net(true);
  for (GradientMode mode : kModes) {
    const Program program = plan(tape, cpu_profile(), options(mode));
    for (const StrategyInfo& strategy : strategies()) {
      if (strategy.adaptive) continue;
      SCOPED_TRACE(strategy.name);
      Setting s{.strategy = strategy.name};
      const std::size_t footprint = run(program, tape, false, s).totals.footprint;
      s.capacity = footprint;
      const Books exact = run(program, tape, true, s);
      EXPECT_EQ(exact.totals.footprint, footprint);
      s.capacity = footprint - 1;
      EXPECT_THROW(run(program, tape, false, s), OutOfMemory);
      EXPECT_THROW(run(program, tape, true, s), OutOfMemory);
    }
  }
}

TEST(Execute, AdaptiveStrategiesRunOnTheirSmallestDeviceAndNotAGranuleUnder) {
  const Tape tape = small_net(true);
  const std::size_t granule = cpu_profile().granule;
  for (GradientMode mode : kModes) {
    const Program program = plan(tape, cpu_profile(), options(mode));
    const std::vector<double> losses = run(program, tape, true).losses;
    for (const StrategyInfo& strategy : strategies()) {
      if (!strategy.adaptive) continue;
      SCOPED_TRACE(strategy.name);
      Setting s{.strategy = strategy.name};
      const std::size_t enough = run(program, tape, false, s).totals.peak_reserved;
      const std::size_t smallest = smallest_capacity(enough, granule, [&](std::size_t capacity) {
        try {
          s.capacity = capacity;
          run(program, tape, false, s);
          return true;
        } catch (const OutOfMemory&) {
          return false;
        }
      });
      s.capacity = smallest;
      const Books real = run(program, tape, true, s);
      expect_same_books(run(program, tape, false, s), real);
      EXPECT_EQ(real.losses, losses);
      EXPECT_LE(real.totals.peak_reserved, smallest);
      s.capacity = smallest - granule;
      EXPECT_THROW(run(program, tape, false, s), OutOfMemory);
      EXPECT_THROW(run(program, tape, true, s), OutOfMemory);
    }
  }
}

TEST(Execute, InterruptionFreesEverything) {
  const Tape tape = small_net(true);
  const Program program = plan(tape, cpu_profile(), options(GradientMode::per_step));
  struct Stopper : Observer {
    std::atomic<bool> stop = false;
    int left = 0;
    void after_exec(const Exec&, std::int64_t, RunAccess&) override { stop = --left == 0; }
  };
  for (int after : {1, 10, 57, 200}) {
    Stopper stopper;
    stopper.left = after;
    EXPECT_THROW(run(program, tape, true, {.observer = &stopper, .interrupted = &stopper.stop}),
                 Interrupted);
  }
}

TEST(Execute, WhatAnObserverThrowsArrivesAndNothingLeaks) {
  const Tape tape = small_net(true);
  const Program program = plan(tape, cpu_profile(), options(GradientMode::full_batch));
  struct Thrower : Observer {
    void gradients_ready(std::int64_t, const Section&, RunAccess&) override {
      throw std::runtime_error("seen enough");
    }
  } thrower;
  EXPECT_THROW(run(program, tape, true, {.observer = &thrower}), std::runtime_error);
}

TEST(Execute, ObserversSeeEachMicroBatchOnce) {
  const Tape tape = small_net(true);
  struct Watcher : Observer {
    std::vector<std::int64_t> first_samples;
    int steps = 0, gradients = 0;
    void after_exec(const Exec& exec, std::int64_t step, RunAccess&) override {
      if (exec.pass == Pass::read_loss && step == 1) first_samples.push_back(exec.first_sample);
    }
    void gradients_ready(std::int64_t, const Section& section, RunAccess& run) override {
      ++gradients;
      for (BufferId id : section.gradients) EXPECT_NE(run.tensor(id).data, nullptr);
    }
    void after_step(std::int64_t, double, RunAccess&) override { ++steps; }
  };
  const std::vector<std::int64_t> expected{0, 2, 4, 6, 8};
  for (GradientMode mode : {GradientMode::accumulated_graph, GradientMode::per_step}) {
    Watcher watcher;
    run(plan(tape, cpu_profile(), options(mode, 9, 2)), tape, true, {.observer = &watcher});
    EXPECT_EQ(watcher.first_samples, expected);
    EXPECT_EQ(watcher.steps, 3);
    EXPECT_EQ(watcher.gradients, 3);
  }
}

TEST(Execute, CalibrationSetsRunningStatisticsToTheBatchs) {
  const Tape tape = small_net(true);
  PlanOptions o = options(GradientMode::full_batch);
  o.run = RunMode::eval;
  o.calibrate = true;
  struct Reader : Observer {
    std::vector<float> mean;
    void after_setup(RunAccess& run) override {
      const Tensor t = run.tensor(run.program().states[0]);
      mean.resize(static_cast<std::size_t>(t.shape.elements()));
      run.backend().copy_to_host(mean.data(), t);
    }
  } calibrated, plain;
  run(plan(tape, cpu_profile(), o), tape, true, {.observer = &calibrated});
  o.calibrate = false;
  run(plan(tape, cpu_profile(), o), tape, true, {.observer = &plain});
  for (float value : plain.mean) EXPECT_EQ(value, 0.0f);
  for (float value : calibrated.mean) EXPECT_NE(value, 0.0f);
}

TEST(Execute, NoGradRunsForwardAlone) {
  const Tape tape = small_net(true);
  for (GradientMode mode : kModes) {
    PlanOptions o = options(mode);
    o.run = RunMode::no_grad;
    const Books books = run(plan(tape, cpu_profile(), o), tape, true);
    EXPECT_EQ(books.losses[0], books.losses[0]) << "not a NaN";
    EXPECT_EQ(books.peak.by_category[static_cast<std::size_t>(Category::parameter_gradient)], 0u);
  }
}

}  // namespace
}  // namespace arenagrad
