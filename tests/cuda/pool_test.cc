// Training out of cudaMallocAsync's pool, on the emulated GPU.
#include <algorithm>

#include "experiments/does_not_fit.h"
#include "experiments/recorder.h"
#include "tests/cuda/training.h"

namespace arenagrad::cuda_test {
namespace {

using emulated_cuda::machine;
using PoolTraining = OnEmulatedGpu;

Settings pool_settings(GradientMode mode) {
  Settings settings = training_settings(mode);
  settings.strategy = "pool-async";
  return settings;
}

bool same_bits(const HostTensors& a, const HostTensors& b) {
  return !a.empty() && std::ranges::equal(a, b, [](const HostTensor& x, const HostTensor& y) {
    return x.name == y.name && x.bytes == y.bytes;
  });
}

/// Where buffers lie changes no bit, and what is requested doesn't depend on it either.
TEST_F(PoolTraining, IsThatOutOfAnArena) {
  const Model model = test::small_net(true);
  for (const GradientMode mode : kModes)
    for (const bool deferred : {false, true}) {
      SCOPED_TRACE(std::string(name(mode)) + (deferred ? ", late" : ""));
      start_on({.deferred = deferred});
      Recorder in_arena, in_pool;
      RunOptions options;
      options.observer = &in_arena;
      const auto arena = train_on_gpu(model, training_settings(mode), options);
      options.observer = &in_pool;
      const auto pool = train_on_gpu(model, pool_settings(mode), options);
      EXPECT_EQ(pool.measurement.losses, arena.measurement.losses);
      EXPECT_TRUE(same_bits(in_pool.gradients(), in_arena.gradients()));
      EXPECT_TRUE(same_bits(in_pool.states(), in_arena.states()));

      const Measurement &m = pool.measurement, &other = arena.measurement;
      EXPECT_TRUE(m.planned_equals_observed == true);
      EXPECT_TRUE(m.balanced);
      EXPECT_EQ(m.bytes.peak_requested, other.bytes.peak_requested);
      EXPECT_EQ(m.bytes.by_category_at_peak, other.bytes.by_category_at_peak);
      EXPECT_EQ(m.peak_at.buffer, other.peak_at.buffer);
      EXPECT_EQ(m.bytes.context, machine().options().context);  // the pool has gone
      EXPECT_EQ(complaints(), std::vector<std::string>{});
    }
}

TEST_F(PoolTraining, ThePoolSpeaksForItself) {
  const auto run = train_on_gpu(test::small_net(true), pool_settings(kModes[0]));
  const Measurement& m = run.measurement;
  ASSERT_TRUE(m.opaque);
  ASSERT_TRUE(m.pool.has_value());
  EXPECT_EQ(m.pool->used, 0u);  // all was freed
  EXPECT_GE(m.pool->used_high, m.bytes.peak_requested);
  EXPECT_EQ(m.pool->used_high % 512, 0u);
  EXPECT_GE(m.pool->reserved_high, m.pool->used_high);
  EXPECT_EQ(m.pool->reserved, m.pool->reserved_high);  // it keeps what it took
  EXPECT_EQ(m.bytes.footprint, 0u);
  EXPECT_EQ(m.bytes.reserved, 0u);
  const auto arena = train_on_gpu(test::small_net(true), training_settings(kModes[0]));
  EXPECT_FALSE(arena.measurement.opaque);
  EXPECT_FALSE(arena.measurement.pool.has_value());
}

TEST_F(PoolTraining, NewMemoryMayHoldAnything) {
  for (const GradientMode mode : kModes) {
    start_on({.fill = 0xFF});
    const auto nans = train_on_gpu(test::small_net(true), pool_settings(mode));
    start_on({.fill = 0x00});
    const auto zeros = train_on_gpu(test::small_net(true), pool_settings(mode));
    EXPECT_EQ(nans.measurement.losses, zeros.measurement.losses) << name(mode);
  }
}

/// Bytes in use after each step: the pool's, nothing else.
class MemoryWatch final : public Observer {
 public:
  void after_step(std::int64_t, double, RunAccess&) override {
    in_use.push_back(machine().in_use());
  }
  std::vector<std::size_t> in_use;
};

TEST_F(PoolTraining, NothingButThePoolIsAllocated) {
  MemoryWatch watch;
  RunOptions options;
  options.observer = &watch;
  const auto run = train_on_gpu(test::small_net(true), pool_settings(kModes[0]), options);
  EXPECT_EQ(watch.in_use.back(), run.measurement.pool->reserved_high);
}

std::string refusal_of(const Settings& settings, OutOfMemoryReport* report) {
  try {
    train_on_gpu(test::small_net(true), settings);
  } catch (const DoesNotFit& error) {
    *report = error.report;
    return error.what();
  }
  return "it fitted";
}

/// The requests alone pass the capacity: known beforehand, and to the byte.
TEST_F(PoolTraining, RequestsBeyondTheCapacityAreExplained) {
  Settings settings = pool_settings(kModes[0]);
  const std::size_t needs =
      train_on_gpu(test::small_net(true), settings).measurement.bytes.peak_requested;
  settings.capacity = needs;
  EXPECT_TRUE(train_on_gpu(test::small_net(true), settings).measurement.balanced);
  settings.capacity = needs - 1;
  OutOfMemoryReport report;
  const std::string text = refusal_of(settings, &report);
  EXPECT_NE(text.find(" are live of a capacity of "), std::string::npos) << text;
  EXPECT_TRUE(report.opaque);
  EXPECT_FALSE(report.system_refused);
  EXPECT_FALSE(report.footprint_without_limit.has_value());
  EXPECT_FALSE(report.alternatives.empty());
  EXPECT_EQ(report.live_total + report.requested, needs);
}

/// The device has less than the pool takes, though more than is requested.
TEST_F(PoolTraining, APoolThatHasNoMoreIsExplained) {
  const Model model = test::small_net(true);
  const auto run = train_on_gpu(model, pool_settings(kModes[0]));
  const std::size_t context = std::size_t{64} << 20;
  start_on({.memory = context + run.measurement.pool->reserved_high - 1});
  OutOfMemoryReport report;
  Settings settings = pool_settings(kModes[0]);
  settings.capacity = std::size_t{1} << 30;
  const std::string text = refusal_of(settings, &report);
  EXPECT_NE(text.find("the device's pool refused to give more"), std::string::npos) << text;
  EXPECT_TRUE(report.system_refused);
}

TEST_F(PoolTraining, IsTheGpusAlone) {
  EXPECT_THROW(run_real(test::small_net(true), pool_settings(kModes[0]), {}), Error);
  EXPECT_THROW(run_dry(test::small_net(true), pool_settings(kModes[0])), Error);
}

}  // namespace
}  // namespace arenagrad::cuda_test
