// The GPU that the tests of this folder run on: the emulated one, or the first one of this machine.
// A test program is linked with one of the two.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cudnn/engine_planner.h"
#include "kernels/device.h"
#include "kernels/profile.h"

namespace arenagrad::cuda_test {

/// "emulated", or the GPU's name.
std::string gpu_name();
/// Why there is none to test on; empty when there is.
std::string why_no_gpu();

/// Begins anew. The emulated GPU then runs queued work as late as it may.
void start_gpu();
/// Illegal calls that were made, and what is still alive on the GPU, each in a line. A real GPU
/// doesn't tell.
std::vector<std::string> complaints();

/// Plans for that GPU and opens it. Outlives what it opened.
class GpuUnderTest {
 public:
  explicit GpuUnderTest(const cudnn::EnginePolicy& policy = {},
                        cudnn::Layout layout = cudnn::Layout::nchw);
  ~GpuUnderTest();

  const Profile& profile() const { return profile_; }
  const cudnn::EnginePlanner& planner() const { return *planner_; }
  std::unique_ptr<Device> open() const;

 private:
  Profile profile_;
  std::unique_ptr<cudnn::EnginePlanner> planner_;
};

}  // namespace arenagrad::cuda_test
