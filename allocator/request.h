// The vocabulary of allocation: plain values, no behaviour. All sizes and offsets are in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "allocator/category.h"

namespace arenagrad {

/// Index into a program's buffer table. The same buffer may be allocated again after it was freed
/// (a buffer inside a repeated section), never while it is live.
enum class BufferId : std::uint32_t {};
inline constexpr BufferId kNoBuffer{std::numeric_limits<std::uint32_t>::max()};
constexpr std::size_t index(BufferId id) { return static_cast<std::size_t>(id); }

struct Request {
  BufferId id;
  std::size_t bytes;
  std::size_t alignment;  // a power of two
  Category category;
};

/// `granted >= bytes` is what the strategy set aside; `offset` is from the arena's base.
struct Placement {
  std::size_t offset;
  std::size_t granted;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// footprint = granted live bytes + free; reserved = footprint + slack.
struct Usage {
  std::size_t footprint;  // top of what has been used; falls only when memory is decommitted
  std::size_t reserved;   // backed by the driver
  std::size_t free;       // holes: free bytes below the footprint
};

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The capacity of a device without a limit: 1 EiB, far more than any machine has, so that a dry
/// run tells the need of any batch; small enough that sums of a few of them are exact.
inline constexpr std::size_t kUnlimited = std::size_t{1} << 60;

}  // namespace arenagrad
