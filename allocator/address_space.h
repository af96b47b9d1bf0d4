// Where segments go: addresses of a driver, handed out and taken back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

#include "allocator/driver.h"
#include "allocator/request.h"

namespace arenagrad {

/// Spans of addresses without memory, the lowest that is large enough first. A driver's addresses
/// are used once, so ranges are taken in large pieces and never given back.
class AddressSpace {
 public:
  /// Spans begin at multiples of the alignment and of the driver's granule.
  AddressSpace(Driver& driver, std::size_t alignment)
      : driver_(driver), step_(std::lcm(driver.granule(), alignment)) {}

  /// Sizes are multiples of this.
  std::size_t step() const { return step_; }

  std::size_t take(std::size_t bytes) {
    for (auto span = free_.begin(); span != free_.end(); ++span) {
      if (span->second >= bytes) return cut(span, bytes);
    }
    const std::size_t piece =
        kTimesCapacity * std::min(driver_.capacity(), driver_.longest_range() / kTimesCapacity);
    const std::size_t range = round_up(std::max(piece, bytes), step_);
    const std::size_t begin = driver_.reserve(range);
    ranges_.insert(begin);
    return cut(free_.emplace(begin, range).first, bytes);
  }

  void give_back(std::size_t offset, std::size_t bytes) {
    auto span = free_.emplace(offset, bytes).first;
    // Spans of two ranges stay apart: no memory may lie across their border.
    if (const auto next = std::next(span);
        next != free_.end() && next->first == offset + bytes && !ranges_.contains(next->first)) {
      span->second += next->second;
      free_.erase(next);
    }
    if (span == free_.begin() || ranges_.contains(offset)) return;
    if (const auto prev = std::prev(span); prev->first + prev->second == offset) {
      prev->second += span->second;
      free_.erase(span);
    }
  }

 private:
  using Spans = std::map<std::size_t, std::size_t>;  // offset to bytes
  static constexpr std::size_t kTimesCapacity = 4;   // room for what freed spans tear up

  std::size_t cut(Spans::iterator span, std::size_t bytes) {
    const auto [offset, whole] = *span;
    free_.erase(span);
    if (whole > bytes) free_.emplace(offset + bytes, whole - bytes);
    return offset;
  }

  Driver& driver_;
  std::size_t step_;
  Spans free_;
  std::set<std::size_t> ranges_;  // where each range begins
};

}  // namespace arenagrad
