// One address range that is given memory from its start on, granule by granule.
#pragma once

#include <cstddef>

#include "allocator/driver.h"

namespace arenagrad {

class GrowingRange {
 public:
  /// Reserves addresses for `bytes`; takes no memory yet.
  GrowingRange(Driver& driver, std::size_t bytes)
      : driver_(driver), bytes_(bytes), base_(driver.reserve(bytes > 0 ? bytes : 1)) {}

  /// Makes sure of memory behind the first `top` bytes. False when the capacity, the system or the
  /// range does not allow it; nothing has changed then.
  [[nodiscard]] bool grow_to(std::size_t top) {
    if (top <= committed_) return true;
    if (top > bytes_) return false;
    const std::size_t more = driver_.committable(top - committed_);
    if (more == 0 || !driver_.commit(base_ + committed_, more)) return false;
    committed_ += more;
    return true;
  }

  std::size_t base() const { return base_; }
  std::size_t committed() const { return committed_; }
  const Driver& driver() const { return driver_; }

 private:
  Driver& driver_;
  std::size_t bytes_;
  std::size_t base_;
  std::size_t committed_ = 0;
};

}  // namespace arenagrad
