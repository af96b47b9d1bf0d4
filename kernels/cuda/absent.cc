// A build without CUDA.
#include "kernels/cuda/device.h"

namespace arenagrad::cuda {
namespace {

constexpr const char* kWhy =
    "this program was built without CUDA (-DARENAGRAD_CUDA=ON needs nvcc and cuDNN)";

}  // namespace

Found find_gpus() {
  Found found;
  found.why_none = kWhy;
  return found;
}

std::string device_properties(int) { throw DeviceError(std::string("no GPU: ") + kWhy); }

std::unique_ptr<Device> open_gpu(const GpuOptions&, const cudnn::EnginePlanner&) {
  throw DeviceError(std::string("no GPU: ") + kWhy);
}

}  // namespace arenagrad::cuda
