#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "allocator/driver.h"
#include "allocator/error.h"
#include "allocator/request.h"
#include "allocator/units.h"

namespace arenagrad {
namespace {

// Addresses cost nothing until committed and are never handed out twice, so a driver takes many
// times its capacity, but few enough that several drivers fit a process.
constexpr std::size_t kLeastAddresses = std::size_t{1} << 40;
constexpr std::size_t kTimesCapacity = 16;
constexpr std::size_t kEnough = std::size_t{1} << 46;  // half of what a process has

// Without MAP_NORESERVE: inaccessible pages are charged to nobody, and the charge at commit lets
// the system refuse what it could never back.
void* map_inaccessible(void* at, std::size_t bytes, int flags) {
  return ::mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

}  // namespace

HostDriver::HostDriver(std::size_t capacity, std::size_t granule) : Driver(capacity, granule) {
  check_contract(granule % kPage == 0, "a host driver's granule is a multiple of 4096 bytes");
}

HostDriver::~HostDriver() {
  if (base_ != nullptr) ::munmap(base_, mapped_);
  if (file_ >= 0) ::close(file_);
}

void HostDriver::do_reserve(std::size_t offset, std::size_t bytes) {
  if (base_ == nullptr) {
    const std::size_t wanted = std::max(kTimesCapacity * std::min(capacity(), kEnough), bytes);
    std::size_t size = round_up(std::clamp(wanted, kLeastAddresses, kEnough), kPage);
    void* at = map_inaccessible(nullptr, size, 0);
    // Where addresses are scarce (a limit, other drivers) a smaller range does for what is there.
    while (at == MAP_FAILED && size / 2 >= std::min(capacity(), kLeastAddresses)) {
      size = round_up(size / 2, kPage);
      at = map_inaccessible(nullptr, size, 0);
    }
    if (at == MAP_FAILED) {
      throw Error("no address space for host memory: expected " + exact_bytes(size) +
                  ", the system says: " + std::strerror(errno));
    }
    base_ = static_cast<std::byte*>(at);
    mapped_ = size;
  }
  // An unlimited range may end past the mapping; committing there is refused. A small one may not.
  if (offset >= mapped_) {
    throw ContractError("host address space exhausted: " + exact_bytes(mapped_) + " used up");
  }
}

void HostDriver::do_share(std::size_t offset, std::size_t bytes) {
  if (file_ < 0) {
    file_ = ::memfd_create("arenagrad", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(mapped_)) != 0) {
      throw Error("no memory file of " + exact_bytes(mapped_) +
                  ", the system says: " + std::strerror(errno));
    }
  }
  shareable_.push_back({offset, round_up(bytes, granule())});
}

void HostDriver::do_release(std::size_t offset, std::size_t) {
  std::erase_if(shareable_, [&](const Piece& range) { return range.offset == offset; });
}

bool HostDriver::shareable(std::size_t offset) const {
  return std::any_of(shareable_.begin(), shareable_.end(), [&](const Piece& range) {
    return range.offset <= offset && offset - range.offset < range.bytes;
  });
}

bool HostDriver::do_commit(std::size_t offset, std::size_t bytes) {
  const std::size_t length = round_up(bytes, kPage);
  if (offset + length > mapped_) return false;
  if (!shareable(offset)) {
    return ::mprotect(base_ + offset, length, PROT_READ | PROT_WRITE) == 0;
  }
  // A file's pages are charged when they are there: allocating them lets the system refuse.
  const auto at = static_cast<off_t>(offset);
  if (::fallocate(file_, 0, at, static_cast<off_t>(length)) != 0) return false;
  if (do_map(offset, offset, length)) return true;
  ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, static_cast<off_t>(length));
  return false;
}

bool HostDriver::do_map(std::size_t offset, std::size_t source, std::size_t bytes) {
  if (offset + bytes > mapped_) return false;
  return ::mmap(base_ + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                static_cast<off_t>(source)) != MAP_FAILED;
}

void HostDriver::do_decommit(std::size_t offset, std::size_t bytes) {
  const std::size_t length = round_up(bytes, kPage);
  do_unmap(offset, length);
  if (shareable(offset) &&
      ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(length)) != 0) {
    throw Error("host memory could not be given back: " + exact_bytes(bytes) +
                ", the system says: " + std::strerror(errno));
  }
}

void HostDriver::do_unmap(std::size_t offset, std::size_t bytes) {
  // Mapping anew drops pages and charge alike, where MADV_DONTNEED would keep the charge.
  void* at = map_inaccessible(base_ + offset, bytes, MAP_FIXED);
  if (at == MAP_FAILED) {
    throw Error("host memory could not be given back: " + exact_bytes(bytes) +
                ", the system says: " + std::strerror(errno));
  }
}

}  // namespace arenagrad
