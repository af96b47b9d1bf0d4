#include "kernels/cuda/device.h"

#include "kernels/cuda/backend.h"
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/session.h"

namespace arenagrad::cuda {
namespace {

struct Memory {
  std::size_t free, total;
};

Memory memory_of(int index) {
  ARENAGRAD_CHECK(cudaSetDevice(index));
  Memory memory{};
  ARENAGRAD_CHECK(cudaMemGetInfo(&memory.free, &memory.total));
  return memory;
}

class GpuDevice final : public Device {
 public:
  GpuDevice(const GpuOptions& options, const cudnn::EnginePlanner& planner)
      : options_(options), planner_(planner) {}

  std::string name() const override { return "cuda:" + std::to_string(options_.index); }
  std::size_t free_memory() const override { return memory_of(options_.index).free; }

  std::unique_ptr<Backend> make_backend() override {
    if (const std::string missing = planner_.missing_workspace(); !missing.empty())
      throw DeviceError(name() +
                        ": expected a plan that has an engine for every convolution, got "
                        "one without: " +
                        missing);
    auto backend = std::make_unique<CudaBackend>(CudaOptions{options_.index, options_.allow_tf32},
                                                 planner_.table());
    stream_ = backend->stream();
    return backend;
  }
  std::unique_ptr<Driver> make_driver(const ArenaMemory& memory) override {
    ARENAGRAD_CHECK(cudaSetDevice(options_.index));
    if (memory.kind == ArenaKind::pool)
      return make_pool_driver(options_.index, stream_, memory.capacity);
    if (memory.kind == ArenaKind::fixed)
      return make_fixed_driver(memory.planned, memory.capacity, memory.granule);
    return make_growing_driver(options_.index, memory.capacity, memory.granule);
  }

  std::size_t context(std::size_t arena, std::size_t) const override {
    const Memory memory = memory_of(options_.index);
    const std::size_t used = memory.total - memory.free;
    return used > arena ? used - arena : 0;
  }

 private:
  GpuOptions options_;
  const cudnn::EnginePlanner& planner_;
  CUstream_st* stream_ = nullptr;  // of the backend made last
};

std::string why(cudaError_t status) {
  if (status == cudaErrorInsufficientDriver)
    return "no NVIDIA driver for this version of CUDA is loaded (cudaErrorInsufficientDriver)";
  if (status == cudaErrorNoDevice) return "the NVIDIA driver finds no GPU (cudaErrorNoDevice)";
  return std::string("CUDA says ") + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) +
         ")";
}

}  // namespace

Found find_gpus() {
  Found found;
  // Versions need no GPU; a version that cannot be read stays 0.
  static_cast<void>(cudaRuntimeGetVersion(&found.runtime));
  static_cast<void>(cudaDriverGetVersion(&found.driver));
  found.cudnn = cudnnGetVersion();
  found.cublas = CUBLAS_VERSION;
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  for (int i = 0; status == cudaSuccess && i < count; ++i) {
    cudaDeviceProp prop{};
    status = cudaGetDeviceProperties(&prop, i);
    if (status == cudaSuccess)
      found.gpus.push_back(
          {i, prop.name, prop.totalGlobalMem, prop.major, prop.minor, prop.multiProcessorCount});
  }
  if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // told here, not by the next launch
    found.gpus.clear();
    found.why_none = why(status);
  }
  return found;
}

std::string device_properties(int index) {
  ARENAGRAD_CHECK(cudaSetDevice(index));
  ARENAGRAD_CHECK(cudaFree(nullptr));  // creates the context
  using Descriptor = Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;
  cudnnBackendDescriptor_t made = nullptr;
  ARENAGRAD_CHECK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made));
  const Descriptor desc(made);
  const std::int32_t device = index;
  ARENAGRAD_CHECK(cudnnBackendSetAttribute(made, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32,
                                           1, &device));
  ARENAGRAD_CHECK(cudnnBackendFinalize(made));
  std::int64_t length = 0;
  ARENAGRAD_CHECK(cudnnBackendGetAttribute(made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                           CUDNN_TYPE_CHAR, 0, &length, nullptr));
  std::string text(static_cast<std::size_t>(length), '\0');
  ARENAGRAD_CHECK(cudnnBackendGetAttribute(made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                           CUDNN_TYPE_CHAR, length, &length, text.data()));
  text.resize(static_cast<std::size_t>(length));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::unique_ptr<Device> open_gpu(const GpuOptions& options, const cudnn::EnginePlanner& planner) {
  const Found found = find_gpus();
  if (!found.why_none.empty()) throw DeviceError("no GPU: " + found.why_none);
  if (options.index < 0 || options.index >= static_cast<int>(found.gpus.size()))
    throw DeviceError("device cuda:" + std::to_string(options.index) + ": expected 0 to " +
                      std::to_string(found.gpus.size() - 1) + ", the GPUs that are here");
  return std::make_unique<GpuDevice>(options, planner);
}

}  // namespace arenagrad::cuda
