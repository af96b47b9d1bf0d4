// PyTorch's caching allocator: its rules and settings, by the names it gives them.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>

#include "allocator/strategy.h"

namespace arenagrad {

/// The defaults are PyTorch's. All sizes are in bytes.
struct CachingSettings {
  /// Blocks of at least this are neither split nor given to smaller requests.
  std::size_t max_split_size = std::numeric_limits<std::size_t>::max();
  /// By how much such a block may be larger than its request.
  std::size_t max_non_split_rounding = std::size_t{20} << 20;
  /// Share of the capacity above which cached blocks are given back by age; 0: never.
  double garbage_collection_threshold = 0;
  /// Steps from one power of two to the next that sizes are rounded up to; powers of two, 0 or 1:
  /// not so rounded. The first is for sizes below 2 MiB, each next one for twice the sizes, the
  /// last for all from 32 GiB on.
  std::array<std::size_t, 16> roundup_power2_divisions{};
};

/// How a request's size becomes a block's, and a block's a segment's.
class CachingRules {
 public:
  /// Units are 512 bytes, or the alignment where that is more.
  CachingRules(const CachingSettings& settings, std::size_t alignment);

  std::size_t rounded(std::size_t bytes) const;

  /// Of rounded sizes: which of the two pools, and what is asked of the driver when it has nothing.
  static bool small(std::size_t rounded) { return rounded <= kSmallSize; }
  static std::size_t segment(std::size_t rounded);

  /// Whether what is left of a segment's block is cut off. Small blocks and those of expandable
  /// segments are cut where a unit is left.
  bool splits(std::size_t block, std::size_t rounded) const;
  bool splits_finely(std::size_t block, std::size_t rounded) const {
    return block - rounded >= unit_;
  }

  /// Whether a free block, large enough, may serve the request.
  bool serves(std::size_t block, std::size_t rounded) const;

  const CachingSettings& settings() const { return settings_; }
  std::size_t unit() const { return unit_; }

  static constexpr std::size_t kSmallSize = std::size_t{1} << 20;     // the small pool's largest
  static constexpr std::size_t kSmallBuffer = std::size_t{2} << 20;   // its segments
  static constexpr std::size_t kLargeBuffer = std::size_t{20} << 20;  // the large pool's, up to
  static constexpr std::size_t kMinLargeAlloc = std::size_t{10}
                                                << 20;              // ... this request; above it
  static constexpr std::size_t kRoundLarge = std::size_t{2} << 20;  // multiples of this

 private:
  CachingSettings settings_;
  std::size_t unit_;
};

/// Segments from the driver, cut into blocks and kept when they are free.
std::unique_ptr<AllocationStrategy> make_caching(const StrategyContext& context,
                                                 const CachingSettings& settings);

/// One growing range for each pool instead, mapped page by page.
std::unique_ptr<AllocationStrategy> make_expandable(const StrategyContext& context,
                                                    const CachingSettings& settings);

}  // namespace arenagrad
