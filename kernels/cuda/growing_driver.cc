#include <algorithm>
#include <map>
#include <string>

#include "allocator/request.h"
#include "allocator/units.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/memory_mapping.h"

namespace arenagrad::cuda {
namespace {

// Addresses cost nothing and are never handed out twice, so a driver takes many times its capacity;
// a GPU has 2^47 of them or more.
constexpr std::size_t kLeastAddresses = std::size_t{1} << 40, kMostAddresses = std::size_t{1} << 44;
constexpr std::size_t kTimesCapacity = 16;

class GrowingDriver final : public Driver {
 public:
  GrowingDriver(int device, std::size_t capacity, std::size_t granule)
      : Driver(capacity, granule), memory_(device, granule) {}

  // Nothing is told in a destructor; a device that failed stays failed.
  ~GrowingDriver() override {
    if (base_ == 0) return;
    static_cast<void>(cudaDeviceSynchronize());
    for (const auto& shown : shown_) memory_.unmap(base_ + shown.first, granule());
    for (const auto& piece : pieces_) memory_.release(piece.second);
    memory_.free(base_, addresses_);
  }

  std::byte* base() const override { return reinterpret_cast<std::byte*>(base_); }

 private:
  using Piece = CUmemGenericAllocationHandle;

  void do_reserve(std::size_t offset, std::size_t bytes) override {
    if (base_ == 0) {
      const std::size_t wanted = capacity() > kMostAddresses / kTimesCapacity
                                     ? kMostAddresses
                                     : capacity() * kTimesCapacity;
      addresses_ =
          round_up(std::clamp(std::max(wanted, bytes), kLeastAddresses, kMostAddresses), granule());
      base_ = memory_.reserve(addresses_);
    }
    if (offset >= addresses_)
      throw DeviceError("a growing arena: expected at most " + exact_bytes(addresses_) +
                        " of addresses to be used in a run, got a range beyond them");
  }
  void do_release(std::size_t, std::size_t) override {}

  bool do_commit(std::size_t offset, std::size_t bytes) override {
    const std::size_t end = offset + round_up(bytes, granule());
    if (end > addresses_) return false;
    // A piece per granule, so that any of them can be taken away or shown elsewhere by itself.
    for (std::size_t at = offset; at < end; at += granule()) {
      Piece piece{};
      if (!memory_.create(&piece, granule())) {
        take_away(offset, at);
        return false;
      }
      pieces_[at] = piece;
      try {
        show(at, piece);
      } catch (...) {
        take_away(offset, at + granule());
        throw;
      }
    }
    return true;
  }
  void do_decommit(std::size_t offset, std::size_t bytes) override {
    ARENAGRAD_CHECK(cudaDeviceSynchronize());
    take_away(offset, offset + round_up(bytes, granule()));
  }

  bool do_map(std::size_t offset, std::size_t source, std::size_t bytes) override {
    if (offset + bytes > addresses_) return false;
    for (std::size_t at = 0; at < bytes; at += granule()) {
      try {
        show(offset + at, piece_at(source + at));
      } catch (...) {
        hide(offset, offset + at);
        throw;
      }
    }
    return true;
  }
  void do_unmap(std::size_t offset, std::size_t bytes) override {
    ARENAGRAD_CHECK(cudaDeviceSynchronize());
    hide(offset, offset + bytes);
  }

  Piece piece_at(std::size_t offset) const {
    const auto piece = pieces_.find(offset);
    if (piece == pieces_.end())
      throw ContractError("a growing arena: expected memory committed at offset " +
                          std::to_string(offset) + " to show elsewhere, got none there");
    return piece->second;
  }
  void show(std::size_t offset, Piece piece) {
    memory_.map(base_ + offset, granule(), piece);
    shown_[offset] = piece;
  }
  void hide(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += granule())
      if (shown_.erase(at) != 0) memory_.unmap(base_ + at, granule());
  }
  void take_away(std::size_t begin, std::size_t end) {
    hide(begin, end);
    for (std::size_t at = begin; at < end; at += granule()) {
      const auto piece = pieces_.find(at);
      if (piece == pieces_.end()) continue;
      memory_.release(piece->second);
      pieces_.erase(piece);
    }
  }

  MemoryMapping memory_;
  CUdeviceptr base_ = 0;
  std::size_t addresses_ = 0;            // bytes from base_
  std::map<std::size_t, Piece> pieces_;  // by the offset at which they were committed
  std::map<std::size_t, Piece> shown_;   // by the offset at which they show
};

}  // namespace

std::unique_ptr<Driver> make_growing_driver(int device, std::size_t capacity, std::size_t granule) {
  return std::make_unique<GrowingDriver>(device, capacity, granule);
}

}  // namespace arenagrad::cuda
