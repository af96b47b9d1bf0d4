#include <string>

#include "allocator/request.h"
#include "allocator/units.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/session.h"

namespace arenagrad::cuda {
namespace {

using DeviceBlock = Owned<void*, cudaFree>;

class FixedDriver final : public Driver {
 public:
  FixedDriver(std::size_t bytes, std::size_t capacity, std::size_t granule)
      : Driver(capacity, granule), size_(round_up(bytes, granule)) {}

  std::byte* base() const override { return static_cast<std::byte*>(block_.get()); }

 private:
  void do_reserve(std::size_t, std::size_t) override {
    if (base() != nullptr) return;
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, size_);
    if (status == cudaErrorMemoryAllocation) {
      refused_ = true;  // told by commit, where there is an answer for it
      return;
    }
    ARENAGRAD_CHECK(status);
    block_ = DeviceBlock(memory);
    if (reinterpret_cast<std::uintptr_t>(memory) % kGranule != 0)
      throw DeviceError("cudaMalloc of " + exact_bytes(size_) +
                        ": expected an address that is a multiple of 2 MiB, got one that is not; "
                        "a growing arena has it");
  }
  void do_release(std::size_t, std::size_t) override {}
  bool do_commit(std::size_t offset, std::size_t bytes) override {
    return !refused_ && offset + bytes <= size_;
  }
  void do_decommit(std::size_t, std::size_t) override {}

  std::size_t size_;
  bool refused_ = false;
  DeviceBlock block_;
};

}  // namespace

std::unique_ptr<Driver> make_fixed_driver(std::size_t bytes, std::size_t capacity,
                                          std::size_t granule) {
  check_contract(bytes > 0, "a fixed arena of no bytes");
  return std::make_unique<FixedDriver>(bytes, capacity, granule);
}

}  // namespace arenagrad::cuda
