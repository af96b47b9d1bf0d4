// Memory for one layer under test: every buffer between two red zones, new memory filled with a
// pattern, so that a read of what was never written and a write beyond the end both show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernels/tensor.h"

namespace arenagrad::testing {

/// 0xFF makes every floating number a NaN and every index absurd; 0x00 hides neither from the
/// other.
inline constexpr std::uint8_t kNanFill = 0xFF, kZeroFill = 0x00;

class GuardedMemory {
 public:
  explicit GuardedMemory(std::uint8_t fill) : fill_(fill) {}

  /// A new buffer, aligned as the CPU profile promises and no better.
  Tensor tensor(const Shape& shape, DType dtype);
  /// No memory for 0 bytes.
  Workspace workspace(std::size_t bytes);
  /// A new buffer of these values, converted to `dtype`.
  Tensor tensor(const Shape& shape, DType dtype, const std::vector<double>& values);

  /// What dies is overwritten with the pattern.
  void kill(Tensor t) const;
  /// Throws ContractError when something was written outside of a buffer.
  void check_red_zones() const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t begin, end, size;  // of the buffer, within the block; size is the block's
  };
  void* allocate(std::size_t size);

  std::uint8_t fill_;
  std::deque<Block> blocks_;
};

std::vector<double> values_of(const ConstTensor& t);

}  // namespace arenagrad::testing
