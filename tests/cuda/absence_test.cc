// A machine without a GPU or a driver says so in a line.
#include "kernels/cuda/device.h"
#include "tests/cuda/training.h"

namespace arenagrad::cuda_test {
namespace {

using emulated_cuda::Presence;
using NoGpu = OnEmulatedGpu;

TEST_F(NoGpu, IsSaidInALine) {
  const std::pair<Presence, const char*> cases[] = {
      {Presence::no_gpu, "cudaErrorNoDevice"},
      {Presence::no_driver, "cudaErrorInsufficientDriver"}};
  for (const auto& [presence, name] : cases) {
    start_on({.presence = presence});
    const cuda::Found found = cuda::find_gpus();
    EXPECT_TRUE(found.gpus.empty());
    EXPECT_NE(found.why_none.find(name), std::string::npos) << found.why_none;
    EXPECT_EQ(found.why_none.find('\n'), std::string::npos);
    EXPECT_GT(found.runtime, 0);
    EXPECT_THROW(GpuUnderTest().open(), DeviceError);
  }
}

TEST_F(NoGpu, OneThatIsThereIsListed) {
  const cuda::Found found = cuda::find_gpus();
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.why_none, "");
  EXPECT_EQ(found.gpus[0].name, "emulated GPU");
  EXPECT_EQ(found.gpus[0].memory, emulated_cuda::Options{}.memory);
  EXPECT_NE(cuda::device_properties(0).find("emulated"), std::string::npos);
  const GpuUnderTest gpu;
  EXPECT_THROW(cuda::open_gpu({.index = 1}, gpu.planner()), DeviceError);
}

}  // namespace
}  // namespace arenagrad::cuda_test
