// A device that runs programs: where `run` gets its memory and its arithmetic from, whatever the
// device is.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "allocator/driver.h"
#include "kernels/backend.h"

namespace arenagrad {

/// How a device gives an arena its memory. Growing: by granules, as the strategy asks. Fixed: all
/// of it at once, when the run begins. Pool: each buffer by itself out of the device's own pool, in
/// the order of the backend's work; for opaque strategies, on devices that have one.
enum class ArenaKind : std::uint8_t { growing, fixed, pool };

/// What an arena is to get.
struct ArenaMemory {
  ArenaKind kind = ArenaKind::growing;
  std::size_t capacity = 0;  // bytes, the most ever committed
  std::size_t granule = 0;   // bytes; 1 for a pool
  std::size_t planned = 0;   // bytes that the dry run reserved: what a fixed arena takes
};

class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "cuda:0".
  virtual std::string name() const = 0;
  /// Its memory is the machine's own, that of the caller's arrays too.
  virtual bool is_host() const { return false; }

  /// Bytes that an arena may still take.
  virtual std::size_t free_memory() const = 0;
  /// The backend and the driver don't outlive the device; the driver goes before the backend.
  virtual std::unique_ptr<Backend> make_backend() = 0;
  /// A pool's takes the backend made last. Throws Error for a kind that the device has not.
  virtual std::unique_ptr<Driver> make_driver(const ArenaMemory& memory) = 0;

  /// Bytes in use that are neither an arena's nor the caller's: the device's context and what
  /// libraries keep. `arena` bytes are reserved at the moment, `host` of the caller's arrays have
  /// come since `make_backend`.
  virtual std::size_t context(std::size_t arena, std::size_t host) const = 0;
};

}  // namespace arenagrad
