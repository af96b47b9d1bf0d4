// Allocation in the order of a stream's work. A block that was freed may not be named by any later
// call; work that was queued before still has it, and what it holds is lost when the stream gets to
// the free. The next allocation of its size gets it at once, as on a real GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "tests/emulated_cuda/machine.h"

using emulated_cuda::Kind;
using emulated_cuda::machine;
using State = emulated_cuda::Machine::State;

namespace {

constexpr std::size_t kRounding = 512;

struct Block {
  std::size_t bytes = 0;
  State state = State::live;
  int frees = 0;  // queued
};

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

/// Takes device memory by granules for the sum of its blocks, and keeps it.
struct CUmemPoolHandle_st {
  std::map<std::byte*, Block> blocks;
  cudaStream_t stream = nullptr;  // of the first allocation: there is no other
  std::size_t held = 0;           // bytes of all blocks
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  bool keeps = false, destroyed = false;

  bool idle() const {
    return std::all_of(blocks.begin(), blocks.end(), [](const auto& block) {
      return block.second.state == State::closed && block.second.frees == 0;
    });
  }
};

namespace {

using Pool = CUmemPoolHandle_st;

/// Every pool, destroyed ones with outstanding frees too.
std::map<std::byte*, Pool*>& owners() {
  static std::map<std::byte*, Pool*> owners;
  return owners;
}

cudaError_t illegal(const char* text) {
  machine().violation(text);
  return cudaErrorInvalidValue;
}

void release(Pool* pool) {
  for (const auto& [begin, block] : pool->blocks) {
    machine().remove_memory(begin, block.bytes);
    owners().erase(begin);
    std::free(begin);
  }
  machine().give_back(pool->reserved);
  delete pool;
}

/// A freed block of that size, or a new one; null when the GPU has no more.
std::byte* find_block(Pool& pool, std::size_t bytes) {
  for (auto& [begin, block] : pool.blocks)
    if (block.state != State::live && block.bytes == bytes) return begin;
  const std::size_t wanted = rounded(pool.held + bytes, emulated_cuda::kGranularity);
  const std::size_t more = wanted - std::min<std::size_t>(wanted, pool.reserved);
  if (more != 0 && !machine().take(more)) return nullptr;
  void* memory = nullptr;
  if (::posix_memalign(&memory, kRounding, bytes) != 0) std::abort();
  auto* begin = static_cast<std::byte*>(memory);
  pool.held += bytes;
  pool.reserved += more;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  pool.blocks[begin] = {.bytes = bytes};
  owners()[begin] = &pool;
  machine().add_memory(begin, bytes, true);
  return begin;
}

bool expect_pool(cudaMemPool_t pool, const char* call) {
  return machine().expect(Kind::memory_pool, pool, call);
}

}  // namespace

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (props->allocType != cudaMemAllocationTypePinned ||
      props->handleTypes != cudaMemHandleTypeNone ||
      props->location.type != cudaMemLocationTypeDevice || props->location.id != 0 ||
      props->maxSize != 0)
    return illegal("cudaMemPoolCreate: properties");
  *pool = new Pool;
  machine().born(Kind::memory_pool, *pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const bool fails = machine().enter(__func__);
  if (!expect_pool(pool, __func__)) return cudaErrorInvalidValue;
  machine().died(Kind::memory_pool, pool);
  for (const auto& block : pool->blocks)
    if (block.second.state == State::live) {
      machine().violation("cudaMemPoolDestroy: something of it was not freed");
      break;
    }
  // Frees that are queued come first; then its memory goes.
  pool->destroyed = true;
  if (pool->idle()) release(pool);
  return fails ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (!expect_pool(pool, __func__)) return cudaErrorInvalidValue;
  if (attribute != cudaMemPoolAttrReleaseThreshold ||
      *static_cast<std::uint64_t*>(value) != std::numeric_limits<std::uint64_t>::max())
    return illegal("cudaMemPoolSetAttribute: an attribute or a value that is not emulated");
  pool->keeps = true;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (!expect_pool(pool, __func__)) return cudaErrorInvalidValue;
  auto& bytes = *static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReservedMemCurrent: bytes = pool->reserved; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh: bytes = pool->reserved_high; return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent: bytes = pool->used; return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh: bytes = pool->used_high; return cudaSuccess;
    default: return illegal("cudaMemPoolGetAttribute: an attribute that is not emulated");
  }
}

cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (machine().enter(__func__)) return cudaErrorMemoryAllocation;
  if (!expect_pool(pool, __func__)) return cudaErrorInvalidValue;
  if (!machine().expect(Kind::stream, stream, __func__)) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return illegal("cudaMallocFromPoolAsync: of no bytes");
  if (!pool->keeps) return illegal("cudaMallocFromPoolAsync: a release threshold not emulated");
  if (pool->stream != nullptr && pool->stream != stream)
    return illegal("cudaMallocFromPoolAsync: a second stream is not emulated");
  pool->stream = stream;
  std::byte* const begin = find_block(*pool, rounded(bytes, kRounding));
  if (begin == nullptr) return cudaErrorMemoryAllocation;
  Block& block = pool->blocks.at(begin);
  block.state = State::live;
  machine().set_state(begin, State::live);
  pool->used += block.bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  *memory = begin;
  return cudaSuccess;
}

// Unlike other calls that give back, it does nothing when it fails: its caller can try again.
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  if (machine().enter(__func__)) return cudaErrorUnknown;
  if (!machine().expect(Kind::stream, stream, __func__)) return cudaErrorInvalidResourceHandle;
  const auto owner = owners().find(static_cast<std::byte*>(memory));
  if (owner == owners().end()) return illegal("cudaFreeAsync: not a block of a pool");
  auto [begin, pool] = *owner;
  Block& block = pool->blocks.at(begin);
  if (block.state != State::live) return illegal("cudaFreeAsync: freed already");
  if (pool->stream != stream) return illegal("cudaFreeAsync: not the stream of its allocation");
  pool->used -= block.bytes;
  block.state = State::retired;
  ++block.frees;
  machine().set_state(begin, State::retired);
  machine().enqueue(stream, [at = begin, pool = pool, &block] {
    machine().fill(at, block.bytes);
    // It may have been handed out again since.
    if (--block.frees == 0 && block.state == State::retired) {
      block.state = State::closed;
      machine().set_state(at, State::closed);
    }
    if (pool->destroyed && pool->idle()) release(pool);
  });
  return cudaSuccess;
}

}  // extern "C"
