#include <limits>
#include <map>
#include <string>

#include "kernels/cuda/driver.h"
#include "kernels/cuda/session.h"

namespace arenagrad::cuda {
namespace {

using MemoryPool = Owned<cudaMemPool_t, cudaMemPoolDestroy>;

MemoryPool make_pool(int device) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.handleTypes = cudaMemHandleTypeNone;
  props.location = {.type = cudaMemLocationTypeDevice, .id = device};
  cudaMemPool_t made = nullptr;
  ARENAGRAD_CHECK(cudaMemPoolCreate(&made, &props));
  MemoryPool pool(made);
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  ARENAGRAD_CHECK(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep));
  return pool;
}

class PoolDriver final : public Driver {
 public:
  PoolDriver(int device, cudaStream_t stream, std::size_t capacity)
      : Driver(capacity, 1), stream_(stream), pool_(make_pool(device)) {}

  // Nothing is told in a destructor; a device that failed stays failed.
  ~PoolDriver() override {
    for (const auto& buffer : buffers_) static_cast<void>(cudaFreeAsync(buffer.second, stream_));
    // A pool goes when its last free has run: whoever looks at free memory next finds it.
    static_cast<void>(cudaDeviceSynchronize());
  }

  std::byte* base() const override { return nullptr; }
  std::byte* at(std::size_t offset) const override {
    const auto buffer = buffers_.find(offset);
    if (buffer == buffers_.end())
      throw ContractError("a pool: expected a buffer at offset " + std::to_string(offset) +
                          ", got none there");
    return static_cast<std::byte*>(buffer->second);
  }

  std::optional<PoolCounters> pool_counters() const override {
    ARENAGRAD_CHECK(cudaStreamSynchronize(stream_));  // what was freed is free
    return PoolCounters{
        counter(cudaMemPoolAttrReservedMemCurrent), counter(cudaMemPoolAttrReservedMemHigh),
        counter(cudaMemPoolAttrUsedMemCurrent), counter(cudaMemPoolAttrUsedMemHigh)};
  }

 private:
  std::uint64_t counter(cudaMemPoolAttr attribute) const {
    std::uint64_t bytes = 0;
    ARENAGRAD_CHECK(cudaMemPoolGetAttribute(pool_.get(), attribute, &bytes));
    return bytes;
  }

  void do_reserve(std::size_t, std::size_t) override {}
  void do_release(std::size_t, std::size_t) override {}
  bool do_commit(std::size_t offset, std::size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream_);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());  // told here, not by the next launch
      return false;
    }
    ARENAGRAD_CHECK(status);
    buffers_[offset] = memory;
    return true;
  }
  void do_decommit(std::size_t offset, std::size_t) override {
    ARENAGRAD_CHECK(cudaFreeAsync(at(offset), stream_));
    buffers_.erase(offset);
  }

  cudaStream_t stream_;
  MemoryPool pool_;
  std::map<std::size_t, void*> buffers_;  // by the offset at which they were committed
};

}  // namespace

std::unique_ptr<Driver> make_pool_driver(int device, CUstream_st* stream, std::size_t capacity) {
  check_contract(stream != nullptr, "a pool without a stream: the backend is made first");
  return std::make_unique<PoolDriver>(device, stream, capacity);
}

}  // namespace arenagrad::cuda
