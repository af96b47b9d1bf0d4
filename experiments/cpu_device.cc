#include "experiments/cpu_device.h"

#include <algorithm>
#include <thread>

#include "experiments/host_memory.h"
#include "kernels/cpu/backend.h"

namespace arenagrad {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads)
      : threads_(threads > 0
                     ? threads
                     : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {}

  std::string name() const override { return "cpu"; }
  bool is_host() const override { return true; }
  std::size_t free_memory() const override { return available_memory(); }
  std::unique_ptr<Backend> make_backend() override {
    resident_before_ = resident_memory();
    return std::make_unique<CpuBackend>(threads_);
  }
  /// Always growing: the system gives pages when they are touched.
  std::unique_ptr<Driver> make_driver(const ArenaMemory& memory) override {
    if (memory.kind == ArenaKind::pool)
      throw Error("a pool of the device's own: expected a GPU, got cpu, which has none");
    return std::make_unique<HostDriver>(memory.capacity, memory.granule);
  }
  std::size_t context(std::size_t arena, std::size_t host) const override {
    const auto now = resident_memory(), explained = resident_before_ + arena + host;
    return now > explained ? now - explained : 0;
  }

 private:
  int threads_;
  std::size_t resident_before_ = 0;
};

}  // namespace

std::unique_ptr<Device> cpu_device(int threads) { return std::make_unique<CpuDevice>(threads); }

}  // namespace arenagrad
