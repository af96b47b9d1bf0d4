// Every call of a training run fails once: the error is told, and everything goes back.
#include "experiments/does_not_fit.h"
#include "tests/cuda/training.h"

namespace arenagrad::cuda_test {
namespace {

using emulated_cuda::machine;

/// Giving back cannot be told to anybody, nor can waiting for it.
bool gives_back(const std::string& call) {
  for (const char* part : {"Destroy", "Free", "Release", "Unmap", "cudaDeviceSynchronize"})
    if (call.find(part) != std::string::npos) return true;
  return false;
}

/// The error is about that call: most name it, some say what it means.
bool names(const std::string& told, const std::string& failed) {
  if (failed == "cuMemCreate" || failed == "cudaMalloc" || failed == "cudaMallocFromPoolAsync")
    return told.find("out of memory") != std::string::npos;
  if (failed.starts_with("cudaGetDeviceC") || failed.starts_with("cudaGetDeviceP"))
    return told.find("no GPU") != std::string::npos;
  return told.find(failed) != std::string::npos;
}

/// One run of one step; what was thrown, empty when nothing was.
std::string train(const Model& model, const Settings& settings, const GpuUnderTest& gpu,
                  ArenaKind kind) {
  try {
    const auto device = gpu.open();
    RunOptions options;
    options.device = device.get();
    options.arena = kind;  // a pool's goes by the strategy
    run_real(model, settings, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class Faults : public ::testing::TestWithParam<ArenaKind> {};

TEST_P(Faults, OfEveryCallAreToldAndUnwound) {
  machine().reset();
  // A pool has two more calls for each buffer, and is no other in a short step.
  const bool pool = GetParam() == ArenaKind::pool;
  const Model model = test::small_net(!pool);
  Settings settings = training_settings(pool ? GradientMode::full_batch : GradientMode::per_step);
  settings.steps = 1;
  settings.plan.batching = {3, 2};
  if (pool) settings.strategy = "pool-async";
  const GpuUnderTest gpu;
  settings.profile = gpu.profile();
  ASSERT_EQ(train(model, settings, gpu, GetParam()), "");  // asks all there is to ask about engines
  machine().fail_at(0);
  ASSERT_EQ(train(model, settings, gpu, GetParam()), "");
  const std::uint64_t calls = machine().calls();
  const auto planner_alone = complaints();  // it describes the GPU for as long as it lives
  EXPECT_GT(calls, pool ? 200u : 500u);
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    machine().fail_at(nth);
    const std::string told = train(model, settings, gpu, GetParam());
    const std::string failed = machine().failed();
    ASSERT_FALSE(failed.empty()) << "call " << nth << " was not reached";
    if (told.empty()) {
      EXPECT_TRUE(gives_back(failed)) << "nobody told that " << failed << " failed";
    } else {
      EXPECT_TRUE(names(told, failed)) << failed << ": " << told;
    }
    ASSERT_EQ(complaints(), planner_alone) << "after " << failed << ", call " << nth;
  }
}

std::string kind_name(const ::testing::TestParamInfo<ArenaKind>& info) {
  constexpr const char* kNames[] = {"growing", "fixed", "pool"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(, Faults,
                         ::testing::Values(ArenaKind::growing, ArenaKind::fixed, ArenaKind::pool),
                         kind_name);

}  // namespace
}  // namespace arenagrad::cuda_test
