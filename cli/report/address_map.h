// Addresses on a picture. A strategy that grows region by region leaves stretches of address space
// that nothing ever uses; drawn to scale they would be all there is to see.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/report/timeline.h"

namespace arenagrad::cli {

/// Addresses from `from` to `to` are drawn at `at` and up.
struct AddressSpan {
  std::uint64_t from = 0, to = 0, at = 0;
};

class AddressMap {
 public:
  explicit AddressMap(const Timeline& timeline);
  /// Where an address that some buffer used is drawn.
  std::uint64_t place(std::uint64_t address) const;
  std::uint64_t top() const;
  const std::vector<AddressSpan>& spans() const { return spans_; }

 private:
  std::vector<AddressSpan> spans_;  // ascending
};

}  // namespace arenagrad::cli
