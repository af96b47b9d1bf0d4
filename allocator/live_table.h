// What is placed now, by buffer: the part of a strategy's books that all strategies share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/error.h"
#include "allocator/request.h"

namespace arenagrad {

/// Far beyond any capacity; keeps sums of offsets and sizes from overflowing.
inline constexpr std::size_t kLargestRequest = std::size_t{1} << 60;

/// Values by buffer id, with a hash over all of them that does not depend on the order in which
/// they came. O(1) each.
class LiveTable {
 public:
  /// ContractError when `request` is one that no strategy takes, or its buffer is already live.
  void check_new(const Request& request, std::size_t alignment) const {
    check_contract(request.bytes > 0, "a request of 0 bytes");
    check_contract(request.bytes <= kLargestRequest, "a request of more than 2^60 bytes");
    check_contract(request.alignment > 0 && alignment % request.alignment == 0,
                   "a request's alignment does not divide the strategy's");
    check_contract(!holds(request.id), "a buffer was allocated while it was live");
  }

  bool holds(BufferId id) const {
    return index(id) < placements_.size() && placements_[index(id)].granted > 0;
  }

  /// `placement.granted` is not 0.
  void add(BufferId id, const Placement& placement) {
    if (index(id) >= placements_.size()) placements_.resize(index(id) + 1);
    placements_[index(id)] = placement;
    granted_ += placement.granted;
    hash_ += mix(id, placement);
  }

  Placement remove(BufferId id) {
    check_contract(holds(id), "a buffer was freed that was not live");
    const Placement placement = placements_[index(id)];
    placements_[index(id)].granted = 0;
    granted_ -= placement.granted;
    hash_ -= mix(id, placement);
    return placement;
  }

  /// Sum of the live placements' granted bytes.
  std::size_t granted() const { return granted_; }
  /// Equal for equal sets of (buffer, offset, granted), up to a chance of 2^-64.
  std::uint64_t hash() const { return hash_; }

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 32) ^ b) * 0x94d049bb133111ebull;
    return x ^ (x >> 29);
  }

 private:
  static std::uint64_t mix(BufferId id, const Placement& placement) {
    return mix(mix(index(id), placement.offset), placement.granted);
  }

  std::vector<Placement> placements_;  // by id; granted 0: not live
  std::size_t granted_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace arenagrad
