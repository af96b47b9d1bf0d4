// The GPUs of this machine. Needs none of CUDA's headers: a build without CUDA has these functions
// too (absent.cc), and says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cudnn/engine_planner.h"
#include "kernels/device.h"

namespace arenagrad::cuda {

struct Gpu {
  int index;
  std::string name;
  std::size_t memory;  // bytes, of the device
  int compute_major, compute_minor;
  int multiprocessors;
};

struct Found {
  std::vector<Gpu> gpus;
  std::string why_none;               // in a line, when there is no GPU that could be used
  int driver = 0, runtime = 0;        // versions as CUDA writes them: 13000
  std::size_t cudnn = 0, cublas = 0;  // likewise: 91900, 130000
};

/// Never throws for want of a GPU, a driver or a build with CUDA; takes no memory on a GPU.
Found find_gpus();

/// The JSON with which cuDNN describes GPU number `index` (its context is created). DeviceError.
std::string device_properties(int index);

struct GpuOptions {
  int index = 0;
  bool allow_tf32 = false;  // of cuBLAS; cuDNN's engines were chosen by the planner's policy
};

/// GPU number `index` for programs that `planner` has planned, which outlives the device. Throws
/// DeviceError, saying why, where there is none. Its backend is refused in the same way when the
/// planner knew no engine for some convolution.
std::unique_ptr<Device> open_gpu(const GpuOptions& options, const cudnn::EnginePlanner& planner);

}  // namespace arenagrad::cuda
