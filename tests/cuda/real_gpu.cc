#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {

std::string gpu_name() {
  const cuda::Found found = cuda::find_gpus();
  return found.gpus.empty() ? "none" : found.gpus[0].name;
}

std::string why_no_gpu() { return cuda::find_gpus().why_none; }

void start_gpu() {}

std::vector<std::string> complaints() { return {}; }

GpuUnderTest::GpuUnderTest(const cudnn::EnginePolicy& policy, cudnn::Layout layout) {
  const cuda::Found found = cuda::find_gpus();
  if (found.gpus.empty()) throw DeviceError("no GPU: " + found.why_none);
  profile_ = cudnn::cuda_profile(found.gpus[0].compute_major);
  profile_.name = found.gpus[0].name;
  profile_.capacity = found.gpus[0].memory;
  planner_ =
      std::make_unique<cudnn::EnginePlanner>(cudnn::EnginePlanner::Options{policy, layout}, [] {
        return std::make_unique<cudnn::DirectSource>(cuda::linked_cudnn(),
                                                     cuda::device_properties(0));
      });
  profile_.kernels = planner_.get();
}

GpuUnderTest::~GpuUnderTest() = default;

std::unique_ptr<Device> GpuUnderTest::open() const { return cuda::open_gpu({}, *planner_); }

}  // namespace arenagrad::cuda_test
