// An arena's memory on a GPU. Growing: one range of addresses, memory mapped into it granule by
// granule through the driver's virtual memory management. Fixed: one cudaMalloc. Pool: a
// cudaMallocAsync for each buffer.
//
// The CUDA driver library is found at run time; nothing is linked against it. What is taken away
// may still be in use by queued work: taking away waits for the device.
#pragma once

#include <memory>

#include "allocator/driver.h"

struct CUstream_st;

namespace arenagrad::cuda {

/// Granules of both are whole multiples of this.
inline constexpr std::size_t kGranule = std::size_t{2} << 20;

/// Memory of GPU number `device`, which must be the calling thread's. A last piece of the capacity
/// that is no whole granule takes one nevertheless. Throws DeviceError when the GPU or its driver
/// cannot map memory.
std::unique_ptr<Driver> make_growing_driver(int device, std::size_t capacity, std::size_t granule);

/// Takes `bytes` (rounded up to the granule) at the first `reserve`, aligned to kGranule. Commits
/// beyond them are refused: strategies that scatter ranges over addresses need a growing arena.
std::unique_ptr<Driver> make_fixed_driver(std::size_t bytes, std::size_t capacity,
                                          std::size_t granule);

/// A memory pool of its own on GPU number `device`; each commit is an allocation in the order of
/// `stream`'s work, which outlives the driver, each decommit a free: neither waits. The pool keeps
/// what it was freed, as PyTorch's cudaMallocAsync backend has it, until the driver ends. The
/// capacity is of the bytes asked for: the pool rounds them up and takes memory in pieces of its
/// own. Refused by the pool: a commit that says no.
std::unique_ptr<Driver> make_pool_driver(int device, CUstream_st* stream, std::size_t capacity);

}  // namespace arenagrad::cuda
