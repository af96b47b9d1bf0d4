// How work is cut into blocks of threads: arithmetic alone, the same for a GPU and for its
// emulation.
#pragma once

#include <cstdint>

namespace arenagrad::cuda {

inline constexpr std::int64_t kBlock = 256;           // threads
inline constexpr std::int64_t kWideBlock = 1024;      // threads that reduce one row together
inline constexpr std::int64_t kMostBlocks = 1 << 20;  // threads take several items beyond it

/// Blocks of kBlock threads for `items`, at least one item a thread while that takes no more than
/// kMostBlocks. 0 for no items: nothing is launched then.
constexpr std::int64_t blocks_for(std::int64_t items) {
  if (items <= 0) return 0;
  const std::int64_t blocks = (items - 1) / kBlock + 1;
  return blocks < kMostBlocks ? blocks : kMostBlocks;
}

}  // namespace arenagrad::cuda
