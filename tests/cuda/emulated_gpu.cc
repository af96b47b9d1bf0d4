#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_under_test.h"
#include "tests/emulated_cuda/machine.h"

namespace arenagrad::cuda_test {

std::string gpu_name() { return "emulated"; }

std::string why_no_gpu() { return ""; }

void start_gpu() { emulated_cuda::machine().reset({.deferred = true}); }

std::vector<std::string> complaints() {
  auto found = emulated_cuda::machine().take_violations();
  for (const auto& leak : emulated_cuda::machine().leaks()) found.push_back("alive: " + leak);
  return found;
}

GpuUnderTest::GpuUnderTest(const cudnn::EnginePolicy& policy, cudnn::Layout layout)
    : profile_(cudnn::cuda_profile(9)) {
  profile_.name = "emulated";
  const auto& options = emulated_cuda::machine().options();
  profile_.capacity = options.memory - options.context;
  profile_.library = std::size_t{64} << 10;  // filled at every call: small for the tests' sake
  planner_ =
      std::make_unique<cudnn::EnginePlanner>(cudnn::EnginePlanner::Options{policy, layout}, [] {
        return std::make_unique<cudnn::DirectSource>(cuda::linked_cudnn(),
                                                     R"({"deviceName": "emulated GPU"})");
      });
  profile_.kernels = planner_.get();
}

GpuUnderTest::~GpuUnderTest() = default;

std::unique_ptr<Device> GpuUnderTest::open() const { return cuda::open_gpu({}, *planner_); }

}  // namespace arenagrad::cuda_test
