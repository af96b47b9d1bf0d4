#include <algorithm>
#include <bit>

#include "allocator/caching.h"

namespace arenagrad {
namespace {

constexpr std::size_t kMinBlockSize = 512;

}  // namespace

CachingRules::CachingRules(const CachingSettings& settings, std::size_t alignment)
    : settings_(settings), unit_(std::max(kMinBlockSize, alignment)) {
  check_contract(settings.max_split_size > kLargeBuffer, "max_split_size is above 20 MiB");
  check_contract(
      settings.garbage_collection_threshold >= 0 && settings.garbage_collection_threshold < 1,
      "garbage_collection_threshold is from 0 to less than 1");
  for (const std::size_t divisions : settings.roundup_power2_divisions) {
    check_contract(divisions == 0 || std::has_single_bit(divisions),
                   "roundup_power2_divisions are powers of two");
  }
}

std::size_t CachingRules::rounded(std::size_t bytes) const {
  const auto& table = settings_.roundup_power2_divisions;
  const auto doublings = static_cast<std::size_t>(std::bit_width(bytes >> 21));
  const std::size_t divisions = table[std::min(doublings, table.size() - 1)];
  const bool in_steps = divisions > 1 && bytes > unit_ * divisions;
  return round_up(bytes, in_steps ? std::bit_floor(bytes) / divisions : unit_);
}

std::size_t CachingRules::segment(std::size_t rounded) {
  if (small(rounded)) return kSmallBuffer;
  return rounded < kMinLargeAlloc ? kLargeBuffer : round_up(rounded, kRoundLarge);
}

bool CachingRules::splits(std::size_t block, std::size_t rounded) const {
  if (small(rounded)) return splits_finely(block, rounded);
  return rounded < settings_.max_split_size && block - rounded > kSmallSize;
}

bool CachingRules::serves(std::size_t block, std::size_t rounded) const {
  if (rounded < settings_.max_split_size) return block < settings_.max_split_size;
  return block < rounded + settings_.max_non_split_rounding;
}

}  // namespace arenagrad
