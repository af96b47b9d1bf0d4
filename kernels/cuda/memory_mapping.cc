#include "kernels/cuda/memory_mapping.h"

#include <string>

#include "kernels/cuda/driver.h"
#include "kernels/cuda/error.h"

namespace arenagrad::cuda {
namespace {

constexpr unsigned kApiVersion = 12000;  // of the functions' signatures

template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  ARENAGRAD_CHECK(
      cudaGetDriverEntryPointByVersion(name, &found, kApiVersion, cudaEnableDefault, &result));
  if (result != cudaDriverEntryPointSuccess || found == nullptr)
    throw DeviceError(std::string("a growing arena: expected the CUDA driver to have ") + name +
                      ", got none; a fixed arena needs no such function");
  function = reinterpret_cast<Function>(found);
}

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

}  // namespace

MemoryMapping::MemoryMapping(int device, std::size_t granule) : device_(device) {
  find("cuMemAddressReserve", address_reserve_);
  find("cuMemAddressFree", address_free_);
  find("cuMemCreate", create_);
  find("cuMemRelease", release_);
  find("cuMemMap", map_);
  find("cuMemUnmap", unmap_);
  find("cuMemSetAccess", set_access_);
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  find("cuMemGetAllocationGranularity", granularity);
  const CUmemAllocationProp prop = properties(device);
  std::size_t own = 0;
  check(granularity(&own, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity");
  if (own == 0 || granule % own != 0)
    throw DeviceError("a growing arena with granules of " + std::to_string(granule) +
                      " bytes: expected a multiple of the GPU's granularity, got " +
                      std::to_string(own) + " for that");
}

CUdeviceptr MemoryMapping::reserve(std::size_t bytes) const {
  CUdeviceptr address = 0;
  check(address_reserve_(&address, bytes, kGranule, 0, 0), "cuMemAddressReserve");
  return address;
}

void MemoryMapping::free(CUdeviceptr address, std::size_t bytes) const noexcept {
  static_cast<void>(address_free_(address, bytes));
}

bool MemoryMapping::create(CUmemGenericAllocationHandle* piece, std::size_t bytes) const {
  const CUmemAllocationProp prop = properties(device_);
  const CUresult status = create_(piece, bytes, &prop, 0);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(status, "cuMemCreate");
  return true;
}

void MemoryMapping::release(CUmemGenericAllocationHandle piece) const noexcept {
  static_cast<void>(release_(piece));
}

void MemoryMapping::map(CUdeviceptr address, std::size_t bytes,
                        CUmemGenericAllocationHandle piece) const {
  check(map_(address, bytes, 0, piece, 0), "cuMemMap");
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device_;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult status = set_access_(address, bytes, &access, 1);
  if (status == CUDA_SUCCESS) return;
  unmap(address, bytes);
  check(status, "cuMemSetAccess");
}

void MemoryMapping::unmap(CUdeviceptr address, std::size_t bytes) const noexcept {
  static_cast<void>(unmap_(address, bytes));
}

}  // namespace arenagrad::cuda
