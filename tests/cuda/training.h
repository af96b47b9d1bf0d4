// Training runs on the emulated GPU, as tests want them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/run.h"
#include "tests/cuda/gpu_under_test.h"
#include "tests/emulated_cuda/machine.h"
#include "tests/experiments/small_models.h"

namespace arenagrad::cuda_test {

inline constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                          GradientMode::per_step};

inline Settings training_settings(GradientMode mode) {
  Settings settings = test::small_settings(mode);
  settings.steps = 3;
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
  return settings;
}

/// The settings' run, planned for the GPU and run on it.
inline arenagrad::Run train_on_gpu(const Model& model, Settings settings, RunOptions options = {},
                                   Layout layout = Layout::nchw) {
  const GpuUnderTest gpu(layout);
  settings.profile = gpu.profile();
  const auto device = gpu.open();
  options.device = device.get();
  return run_real(model, settings, options);
}

/// Each test begins on a new machine, and must have done nothing illegal and left nothing alive.
class OnEmulatedGpu : public ::testing::Test {
 protected:
  OnEmulatedGpu() { emulated_cuda::machine().reset(); }
  void TearDown() override { EXPECT_EQ(complaints(), std::vector<std::string>{}); }

  static void start_on(const emulated_cuda::Options& options) {
    emulated_cuda::machine().reset(options);
  }
};

}  // namespace arenagrad::cuda_test
