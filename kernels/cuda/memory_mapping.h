// The driver functions for mapping memory, found at run time. Needs CUDA's headers.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace arenagrad::cuda {

/// Pieces of GPU memory and addresses for them; sizes are multiples of the granule given. Functions
/// throw DeviceError; those that may be refused for want of memory say so by false.
class MemoryMapping {
 public:
  /// Memory of GPU number `device`. Throws when the driver lacks a function, or when `granule` is
  /// no multiple of the GPU's own.
  MemoryMapping(int device, std::size_t granule);

  CUdeviceptr reserve(std::size_t bytes) const;
  void free(CUdeviceptr address, std::size_t bytes) const noexcept;

  [[nodiscard]] bool create(CUmemGenericAllocationHandle* piece, std::size_t bytes) const;
  void release(CUmemGenericAllocationHandle piece) const noexcept;
  /// The piece shows at `address`, readable and writable.
  void map(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle piece) const;
  void unmap(CUdeviceptr address, std::size_t bytes) const noexcept;

 private:
  int device_;
  decltype(&cuMemAddressReserve) address_reserve_ = nullptr;
  decltype(&cuMemAddressFree) address_free_ = nullptr;
  decltype(&cuMemCreate) create_ = nullptr;
  decltype(&cuMemRelease) release_ = nullptr;
  decltype(&cuMemMap) map_ = nullptr;
  decltype(&cuMemUnmap) unmap_ = nullptr;
  decltype(&cuMemSetAccess) set_access_ = nullptr;
};

}  // namespace arenagrad::cuda
