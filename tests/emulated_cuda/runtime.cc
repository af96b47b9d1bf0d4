// The CUDA runtime's calls.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/emulated_cuda/driver_functions.h"
#include "tests/emulated_cuda/machine.h"

using emulated_cuda::Kind;
using emulated_cuda::machine;
using emulated_cuda::Presence;

namespace {

constexpr std::size_t kLeastAlignment = 256;

std::map<void*, std::size_t>& blocks() {
  static std::map<void*, std::size_t> blocks;
  return blocks;
}
struct Pinned {
  std::size_t bytes = 0;
  int copies = 0;  // queued, that read or write it
};
std::map<void*, Pinned>& pinned() {
  static std::map<void*, Pinned> pinned;
  return pinned;
}

/// One byte past a multiple of twice the alignment would do for no caller; one alignment does.
std::size_t alignment_for(std::size_t bytes) {
  return bytes >= emulated_cuda::kGranularity / 2 ? emulated_cuda::kGranularity : kLeastAlignment;
}

/// The block that has all of it; null for none.
Pinned* pinned_block(const void* begin, std::size_t bytes) {
  auto block = pinned().upper_bound(const_cast<void*>(begin));
  if (block == pinned().begin()) return nullptr;
  --block;
  const auto* from = static_cast<const std::byte*>(block->first);
  const bool inside = static_cast<const std::byte*>(begin) + bytes <= from + block->second.bytes;
  return inside ? &block->second : nullptr;
}

cudaError_t absent() {
  switch (machine().options().presence) {
    case Presence::gpu: return cudaSuccess;
    case Presence::no_gpu: return cudaErrorNoDevice;
    case Presence::no_driver: return cudaErrorInsufficientDriver;
  }
  return cudaErrorUnknown;
}

bool expect_stream(cudaStream_t stream, const char* call) {
  return machine().expect(Kind::stream, stream, call);
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    default: return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t) { return "emulated"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = machine().options().presence == Presence::no_driver ? 0 : CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  *count = machine().options().presence == Presence::gpu ? 1 : 0;
  return absent();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (absent() != cudaSuccess || device != 0) return cudaErrorInvalidDevice;
  *prop = {};
  std::strcpy(prop->name, "emulated GPU");
  prop->totalGlobalMem = machine().options().memory;
  prop->major = 9;
  prop->minor = 0;
  prop->multiProcessorCount = 4;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (const cudaError_t none = absent()) return none;
  if (device == 0) return cudaSuccess;
  machine().violation("cudaSetDevice: no such device");
  return cudaErrorInvalidDevice;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  const auto& options = machine().options();
  *total = options.memory;
  *free = options.memory - options.context - machine().in_use();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (machine().enter(__func__)) return cudaErrorMemoryAllocation;
  if (bytes == 0 || !machine().take(bytes)) return cudaErrorMemoryAllocation;
  void* block = nullptr;
  if (::posix_memalign(&block, alignment_for(bytes), bytes) != 0) {
    machine().give_back(bytes);
    return cudaErrorMemoryAllocation;
  }
  blocks()[block] = bytes;
  machine().add_memory(static_cast<std::byte*>(block), bytes, true);
  *memory = block;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  const bool fails = machine().enter(__func__);
  machine().run_all();
  if (memory == nullptr) return fails ? cudaErrorUnknown : cudaSuccess;
  const auto block = blocks().find(memory);
  if (block == blocks().end()) {
    machine().violation("cudaFree: not a block");
    return cudaErrorInvalidValue;
  }
  machine().remove_memory(static_cast<std::byte*>(memory), block->second);
  machine().give_back(block->second);
  blocks().erase(block);
  std::free(memory);
  return fails ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  if (machine().enter(__func__)) return cudaErrorMemoryAllocation;
  *memory = std::malloc(bytes);
  std::memset(*memory, machine().options().fill, bytes);
  pinned()[*memory] = {bytes};
  machine().born(Kind::pinned, *memory);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  const bool fails = machine().enter(__func__);
  if (!machine().expect(Kind::pinned, memory, __func__)) return cudaErrorInvalidValue;
  if (pinned().at(memory).copies != 0) {
    machine().violation("cudaFreeHost: a queued copy still uses it");
    machine().run_all();
  }
  machine().died(Kind::pinned, memory);
  pinned().erase(memory);
  std::free(memory);
  return fails ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  const bool up = kind == cudaMemcpyHostToDevice;
  if (!up && kind != cudaMemcpyDeviceToHost) {
    machine().violation("cudaMemcpyAsync: a direction that is not emulated");
    return cudaErrorInvalidValue;
  }
  if (!expect_stream(stream, __func__)) return cudaErrorInvalidResourceHandle;
  Pinned* const block = pinned_block(up ? from : to, bytes);
  if (block == nullptr) {
    machine().violation("cudaMemcpyAsync: host memory is not pinned");
    return cudaErrorInvalidValue;
  }
  if (!machine().expect_memory(up ? to : from, bytes, 1, __func__)) return cudaErrorInvalidValue;
  ++block->copies;
  machine().enqueue(stream, [=] {
    std::memcpy(to, from, bytes);
    --block->copies;
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (flags != cudaStreamNonBlocking) {
    machine().violation("cudaStreamCreateWithFlags: flags that are not emulated");
    return cudaErrorInvalidValue;
  }
  *stream = new CUstream_st;
  machine().born(Kind::stream, *stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const bool fails = machine().enter(__func__);
  if (!expect_stream(stream, __func__)) return cudaErrorInvalidResourceHandle;
  machine().run(stream, stream->queued);
  machine().died(Kind::stream, stream);
  delete stream;
  return fails ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (machine().enter(__func__)) return cudaErrorLaunchFailure;
  if (!expect_stream(stream, __func__)) return cudaErrorInvalidResourceHandle;
  machine().run(stream, stream->queued);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (machine().enter(__func__)) return cudaErrorLaunchFailure;
  machine().run_all();
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (flags != cudaEventDisableTiming) {
    machine().violation("cudaEventCreateWithFlags: flags that are not emulated");
    return cudaErrorInvalidValue;
  }
  *event = new CUevent_st;
  machine().born(Kind::event, *event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const bool fails = machine().enter(__func__);
  if (!machine().expect(Kind::event, event, __func__)) return cudaErrorInvalidResourceHandle;
  machine().died(Kind::event, event);
  delete event;
  return fails ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (!machine().expect(Kind::event, event, __func__) || !expect_stream(stream, __func__))
    return cudaErrorInvalidResourceHandle;
  event->stream = stream;
  event->point = stream->queued;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (machine().enter(__func__)) return cudaErrorLaunchFailure;
  if (!machine().expect(Kind::event, event, __func__)) return cudaErrorInvalidResourceHandle;
  if (event->stream != nullptr && expect_stream(event->stream, __func__))
    machine().run(event->stream, event->point);
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  *function = flags == cudaEnableDefault && version >= 11000
                  ? emulated_cuda::driver_function(symbol)
                  : nullptr;
  *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

}  // extern "C"
