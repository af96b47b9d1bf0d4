// Whole training runs on the emulated GPU: against the processor, the plan and themselves.
#include "tests/cuda/training.h"

#include <cmath>

#include "experiments/fit.h"
#include "experiments/recorder.h"
#include "experiments/sweep.h"

namespace arenagrad::cuda_test {
namespace {

using EmulatedTraining = OnEmulatedGpu;

void expect_close(const std::vector<double>& got, const std::vector<double>& want, double limit) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], limit * std::abs(want[i])) << "step " << i;
}

/// Every layer whose kernel knows of layouts; a flatten that has to reorder.
Model every_layer_with_images() {
  return parse_model(R"({"name": "images", "input": [2, 9, 8], "classes": 3, "layers": [
      {"name": "conv1", "op": "conv2d", "out_channels": 4, "kernel": 3, "padding": 1},
      {"name": "norm1", "op": "local_response_norm", "size": 3},
      {"name": "pool1", "op": "max_pool", "kernel": 3, "stride": 2},
      {"name": "conv2", "op": "conv2d", "out_channels": 4, "kernel": 3, "padding": 1, "groups": 2,
       "bias": false},
      {"name": "bn2", "op": "batch_norm"},
      {"name": "relu2", "op": "relu"},
      {"name": "join", "op": "concat", "in": ["relu2", "pool1"]},
      {"name": "drop", "op": "dropout", "p": 0.3},
      {"name": "pool2", "op": "avg_pool", "kernel": 2, "stride": 1},
      {"name": "pool3", "op": "adaptive_avg_pool", "output": [2, 2]},
      {"name": "flatten", "op": "flatten"},
      {"name": "fc", "op": "linear", "out_features": 3}]})",
                     "images.json");
}

/// Losses and gradients within rounding of the processor's; the books in order.
void expect_the_processors(const Model& model, const Settings& settings, double limit,
                           Layout layout = Layout::nchw) {
  Recorder on_cpu, on_gpu;
  RunOptions options;
  options.observer = &on_cpu;
  const auto cpu = run_real(model, settings, options);
  options.observer = &on_gpu;
  const auto gpu = train_on_gpu(model, settings, options, layout);
  EXPECT_EQ(gpu.measurement.backend, "cuda");
  EXPECT_TRUE(gpu.measurement.planned_equals_observed == true);
  EXPECT_TRUE(gpu.measurement.balanced);
  EXPECT_EQ(gpu.measurement.bytes.context, emulated_cuda::machine().options().context);
  expect_close(gpu.measurement.losses, cpu.measurement.losses, limit);
  const Difference gradients = difference(on_cpu.gradients(), on_gpu.gradients());
  EXPECT_TRUE(gradients.finite);
  EXPECT_LE(gradients.rel_l2, limit) << gradients.worst_parameter;
  EXPECT_LE(difference(on_cpu.states(), on_gpu.states()).rel_l2, limit);
}

TEST_F(EmulatedTraining, IsTheProcessors) {
  for (const bool batch_norm : {false, true})
    for (const GradientMode mode : kModes)
      for (const DType dtype : {DType::f32, DType::f64}) {
        SCOPED_TRACE(std::string(name(mode)) + (batch_norm ? " with batch norm " : " ") +
                     std::string(name(dtype)));
        Settings settings = training_settings(mode);
        settings.plan.dtype = dtype;
        expect_the_processors(test::small_net(batch_norm), settings,
                              dtype == DType::f32 ? 2e-5 : 1e-11);
      }
}

TEST_F(EmulatedTraining, ChannelsLastIsTheProcessors) {
  for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch})
    for (const GradientMode mode : kModes)
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        SCOPED_TRACE(std::string(name(mode)) + " " + std::string(name(layout)));
        Settings settings = training_settings(mode);
        settings.plan.policy = policy;
        settings.plan.dtype = DType::f64;
        expect_the_processors(every_layer_with_images(), settings, 1e-11, layout);
      }
}

/// The reordered features are a tensor of their own; nothing else takes other bytes, workspace
/// aside.
TEST_F(EmulatedTraining, ChannelsLastHasTheSameTensors) {
  const Settings settings = training_settings(GradientMode::full_batch);
  const auto nchw = train_on_gpu(test::small_net(true), settings);
  const auto nhwc = train_on_gpu(test::small_net(true), settings, {}, Layout::nhwc);
  EXPECT_EQ(nchw.measurement.bytes.saved, nhwc.measurement.bytes.saved);
  EXPECT_EQ(nchw.measurement.bytes.peak_requested, nhwc.measurement.bytes.peak_requested);
}

TEST_F(EmulatedTraining, ResNet20IsTheProcessors) {
  const Model model = load_model("resnet20_cifar");
  for (const GradientMode mode : kModes) {
    SCOPED_TRACE(name(mode));
    Settings settings = training_settings(mode);
    settings.plan.batching = {2, 1};
    settings.steps = 1;
    settings.plan.dtype = DType::f64;  // in f32 rounding alone switches some relu of so many
    expect_the_processors(model, settings, 1e-9);
  }
}

TEST_F(EmulatedTraining, NewMemoryMayHoldAnything) {
  for (const GradientMode mode : kModes) {
    start_on({.fill = 0xFF});
    const auto nans = train_on_gpu(test::small_net(true), training_settings(mode));
    start_on({.fill = 0x00});
    const auto zeros = train_on_gpu(test::small_net(true), training_settings(mode));
    EXPECT_EQ(nans.measurement.losses, zeros.measurement.losses) << name(mode);
  }
}

TEST_F(EmulatedTraining, QueuedWorkMayRunLate) {
  for (const GradientMode mode : kModes) {
    start_on({});
    const auto at_once = train_on_gpu(test::small_net(true), training_settings(mode));
    start_on({.deferred = true});
    const auto late = train_on_gpu(test::small_net(true), training_settings(mode));
    EXPECT_EQ(at_once.measurement.losses, late.measurement.losses) << name(mode);
    EXPECT_EQ(complaints(), std::vector<std::string>{});
  }
}

/// Also those that map the same memory at two places, or give some back between two kernels.
TEST_F(EmulatedTraining, EveryStrategyGetsItsMemory) {
  const Model model = test::small_net(true);
  for (const GradientMode mode : kModes) {
    std::vector<double> losses;
    for (const StrategyInfo& strategy : strategies())
      for (const bool deferred : {false, true}) {
        SCOPED_TRACE(std::string(strategy.name) + " " + std::string(name(mode)));
        start_on({.deferred = deferred});
        Settings settings = training_settings(mode);
        settings.strategy = strategy.name;
        const auto run = train_on_gpu(model, settings);
        EXPECT_TRUE(run.measurement.planned_equals_observed == true);
        if (losses.empty()) losses = run.measurement.losses;
        EXPECT_EQ(run.measurement.losses, losses) << "placement changes a result";
      }
  }
}

TEST_F(EmulatedTraining, AFixedArenaIsTheSame) {
  const auto growing = train_on_gpu(test::small_net(true), training_settings(kModes[0]));
  RunOptions options;
  options.arena = ArenaKind::fixed;
  const auto fixed = train_on_gpu(test::small_net(true), training_settings(kModes[0]), options);
  EXPECT_TRUE(fixed.measurement.planned_equals_observed == true);
  EXPECT_TRUE(fixed.observed == growing.observed);
  EXPECT_EQ(fixed.measurement.losses, growing.measurement.losses);
}

/// What the CUDA context takes is shown beside each point's ledger.
TEST_F(EmulatedTraining, ASweepRunsItsPointsOnTheGpu) {
  const GpuUnderTest gpu;
  const auto device = gpu.open();
  SweepOptions options;
  options.settings = training_settings(GradientMode::full_batch);
  options.settings.profile = gpu.profile();
  options.batches = {1, 4};
  options.modes = {GradientMode::full_batch, GradientMode::per_step};
  options.real = options.frontier = true;
  options.device = device.get();
  const auto swept = sweep([](auto) { return test::small_net(false); }, options);
  ASSERT_EQ(swept.points.size(), 4u);
  const auto expect_run = [](const SweepPoint& point) {
    ASSERT_TRUE(point.real) << point.real_error;
    EXPECT_EQ(point.real->backend, "cuda");
    EXPECT_TRUE(point.real->same_ledger);
    EXPECT_EQ(point.real->context, emulated_cuda::machine().options().context);
  };
  for (const auto& point : swept.points) expect_run(point);
  EXPECT_GT(swept.frontier.size(), 4u);
  for (const auto& one : swept.frontier) expect_run(one.point);
}

TEST_F(EmulatedTraining, AFitIsProvedOnTheGpu) {
  const GpuUnderTest gpu;
  const auto device = gpu.open();
  FitOptions options;
  options.settings = training_settings(GradientMode::full_batch);
  options.settings.profile = gpu.profile();
  options.memory = std::size_t{2} << 20;  // one granule
  options.most = 1 << 12;
  options.prove = options.asks_engines = true;
  options.device = device.get();
  const auto result = fit(test::small_net(false), options);
  ASSERT_TRUE(result.proof);
  EXPECT_TRUE(result.proof->ran) << result.proof->message;
  EXPECT_EQ(result.proof->backend, "cuda");
  EXPECT_TRUE(result.proof->same_ledger);
  EXPECT_TRUE(result.proof->next_refused) << result.proof->message;
}

/// Device memory in use after each step.
class MemoryWatch final : public Observer {
 public:
  void after_step(std::int64_t, double, RunAccess&) override {
    in_use.push_back(emulated_cuda::machine().in_use());
  }
  std::vector<std::size_t> in_use;
};

TEST_F(EmulatedTraining, NothingButTheArenaIsAllocated) {
  for (const ArenaKind kind : {ArenaKind::growing, ArenaKind::fixed}) {
    MemoryWatch watch;
    RunOptions options;
    options.arena = kind;
    options.observer = &watch;
    const auto run = train_on_gpu(test::small_net(true), training_settings(kModes[0]), options);
    EXPECT_EQ(watch.in_use, std::vector<std::size_t>(3, run.measurement.bytes.reserved));
  }
}

TEST_F(EmulatedTraining, ASmallGpuIsRefusedBeforehand) {
  start_on({.memory = std::size_t{65} << 20});  // 1 MiB beside the context
  Settings settings = training_settings(kModes[0]);
  settings.capacity = std::size_t{1} << 30;
  EXPECT_THROW(train_on_gpu(test::small_net(true), settings), Error);
}

}  // namespace
}  // namespace arenagrad::cuda_test
