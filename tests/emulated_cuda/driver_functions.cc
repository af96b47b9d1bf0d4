// Virtual memory management: addresses are a mapping without access, pieces are parts of a memory
// file, so that one piece can show at two addresses.
#include "tests/emulated_cuda/driver_functions.h"

#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <type_traits>
#include <utility>

#include "tests/emulated_cuda/machine.h"

namespace emulated_cuda {
namespace {

struct Piece {
  std::size_t bytes = 0;
  std::size_t place = 0;  // in the file
  std::size_t shown = 0;  // how often
  bool is_new = true, released = false;
};

/// A mapping of a piece; memory once access was given.
struct Shown {
  std::size_t bytes;
  CUmemGenericAllocationHandle piece;
  bool accessible;
};

struct Mappings {
  std::map<CUdeviceptr, std::size_t> reserved;
  std::map<CUmemGenericAllocationHandle, Piece> pieces;
  std::map<CUdeviceptr, Shown> shown;
  CUmemGenericAllocationHandle next = 1;
  std::size_t file_size = 0;
  int file = ::memfd_create("emulated_cuda", MFD_CLOEXEC);
};

Mappings& mappings() {
  static Mappings mappings;
  return mappings;
}

std::byte* at(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

CUresult illegal(const char* text) {
  machine().violation(text);
  return CUDA_ERROR_INVALID_VALUE;
}

bool legal_size(std::size_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

bool legal_properties(const CUmemAllocationProp* prop) {
  return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && prop->location.id == 0;
}

bool in_reserved(CUdeviceptr address, std::size_t bytes) {
  auto range = mappings().reserved.upper_bound(address);
  if (range == mappings().reserved.begin()) return false;
  --range;
  return address + bytes <= range->first + range->second;
}

void close(std::byte* begin, std::size_t bytes) {
  ::mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void forget(CUmemGenericAllocationHandle handle) {
  const auto piece = mappings().pieces.find(handle);
  if (!piece->second.released || piece->second.shown != 0) return;
  machine().give_back(piece->second.bytes);
  ::fallocate(mappings().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(piece->second.place), static_cast<off_t>(piece->second.bytes));
  mappings().pieces.erase(piece);
}

CUresult address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                         CUdeviceptr, unsigned long long flags) {
  if (machine().enter("cuMemAddressReserve")) return CUDA_ERROR_UNKNOWN;
  if (!legal_size(bytes) || alignment > kGranularity || flags != 0)
    return illegal("cuMemAddressReserve: size, alignment or flags");
  // One granule more, for the alignment.
  void* mapped = ::mmap(nullptr, bytes + kGranularity, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  auto begin = reinterpret_cast<CUdeviceptr>(mapped);
  const CUdeviceptr aligned = (begin + kGranularity - 1) / kGranularity * kGranularity;
  if (aligned != begin) ::munmap(mapped, aligned - begin);
  if (const std::size_t rest = begin + kGranularity - aligned) ::munmap(at(aligned + bytes), rest);
  mappings().reserved[aligned] = bytes;
  *address = aligned;
  return CUDA_SUCCESS;
}

CUresult address_free(CUdeviceptr address, std::size_t bytes) {
  const bool fails = machine().enter("cuMemAddressFree");
  const auto range = mappings().reserved.find(address);
  if (range == mappings().reserved.end() || range->second != bytes)
    return illegal("cuMemAddressFree: not a reserved range");
  for (const auto& shown : mappings().shown)
    if (shown.first >= address && shown.first < address + bytes)
      return illegal("cuMemAddressFree: something is mapped");
  ::munmap(at(address), bytes);
  mappings().reserved.erase(range);
  return fails ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                const CUmemAllocationProp* prop, unsigned long long flags) {
  if (machine().enter("cuMemCreate")) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!legal_size(bytes) || flags != 0 || !legal_properties(prop))
    return illegal("cuMemCreate: size, flags or properties");
  if (!machine().take(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  Mappings& all = mappings();
  const std::size_t place = all.file_size;
  all.file_size += bytes;
  if (::ftruncate(all.file, static_cast<off_t>(all.file_size)) != 0) {
    machine().give_back(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = all.next++;
  all.pieces[*handle] = {.bytes = bytes, .place = place};
  return CUDA_SUCCESS;
}

CUresult release(CUmemGenericAllocationHandle handle) {
  const bool fails = machine().enter("cuMemRelease");
  const auto piece = mappings().pieces.find(handle);
  if (piece == mappings().pieces.end() || piece->second.released)
    return illegal("cuMemRelease: not a piece");
  piece->second.released = true;
  forget(handle);
  return fails ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (machine().enter("cuMemMap")) return CUDA_ERROR_UNKNOWN;
  const auto piece = mappings().pieces.find(handle);
  if (piece == mappings().pieces.end() || piece->second.released || piece->second.bytes != bytes ||
      offset != 0 || flags != 0 || !in_reserved(address, bytes))
    return illegal("cuMemMap: piece, size, offset or address");
  for (const auto& [begin, shown] : mappings().shown)
    if (begin < address + bytes && address < begin + shown.bytes)
      return illegal("cuMemMap: something is mapped there");
  if (::mmap(at(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mappings().file,
             static_cast<off_t>(piece->second.place)) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++piece->second.shown;
  mappings().shown[address] = {bytes, handle, false};
  return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr address, std::size_t bytes) {
  const bool fails = machine().enter("cuMemUnmap");
  const auto shown = mappings().shown.find(address);
  if (shown == mappings().shown.end() || shown->second.bytes != bytes)
    return illegal("cuMemUnmap: not one mapping");
  if (shown->second.accessible) machine().remove_memory(at(address), bytes);
  close(at(address), bytes);
  const auto handle = shown->second.piece;
  --mappings().pieces.at(handle).shown;
  mappings().shown.erase(shown);
  forget(handle);
  return fails ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                    std::size_t count) {
  if (machine().enter("cuMemSetAccess")) return CUDA_ERROR_UNKNOWN;
  const auto shown = mappings().shown.find(address);
  if (shown == mappings().shown.end() || shown->second.bytes != bytes || count != 1 ||
      access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE || access->location.id != 0 ||
      access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return illegal("cuMemSetAccess: mapping or access");
  Piece& piece = mappings().pieces.at(shown->second.piece);
  shown->second.accessible = true;
  machine().add_memory(at(address), bytes, std::exchange(piece.is_new, false));
  return CUDA_SUCCESS;
}

CUresult granularity(std::size_t* bytes, const CUmemAllocationProp* prop,
                     CUmemAllocationGranularity_flags) {
  if (machine().enter("cuMemGetAllocationGranularity")) return CUDA_ERROR_UNKNOWN;
  if (!legal_properties(prop)) return illegal("cuMemGetAllocationGranularity: properties");
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

/// Held against the header's own type.
template <auto kFunction, class Declared>
void* as(Declared) {
  static_assert(std::is_same_v<decltype(kFunction), Declared>);
  return reinterpret_cast<void*>(kFunction);
}

}  // namespace

void* driver_function(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("cuMemAddressReserve")) return as<&address_reserve>(decltype(&cuMemAddressReserve){});
  if (is("cuMemAddressFree")) return as<&address_free>(decltype(&cuMemAddressFree){});
  if (is("cuMemCreate")) return as<&create>(decltype(&cuMemCreate){});
  if (is("cuMemRelease")) return as<&release>(decltype(&cuMemRelease){});
  if (is("cuMemMap")) return as<&map>(decltype(&cuMemMap){});
  if (is("cuMemUnmap")) return as<&unmap>(decltype(&cuMemUnmap){});
  if (is("cuMemSetAccess")) return as<&set_access>(decltype(&cuMemSetAccess){});
  if (is("cuMemGetAllocationGranularity"))
    return as<&granularity>(decltype(&cuMemGetAllocationGranularity){});
  return nullptr;
}

}  // namespace emulated_cuda
