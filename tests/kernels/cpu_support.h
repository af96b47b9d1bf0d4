// What the tests of the CPU kernels share: deterministic values, guarded memory, closeness.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/tensor.h"

namespace arenagrad::cpu_test {

/// Values in [-1, 1), different for each seed.
template <class T>
std::vector<T> values(std::int64_t count, std::uint64_t seed) {
  std::vector<T> out(static_cast<std::size_t>(count));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (T& value : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(static_cast<double>(state >> 40) / (1 << 23) - 1);
  }
  return out;
}

/// Scratch of exactly the declared bytes, aligned to 64, filled with one byte value; what lies
/// behind it must not change.
class GuardedWorkspace {
 public:
  GuardedWorkspace(std::size_t bytes, unsigned char fill)
      : bytes_(bytes), memory_(bytes + 64 + kGuard, fill) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = memory_.data() + (64 - address % 64) % 64;
    std::memset(begin_ + bytes_, kMark, kGuard);
  }
  Workspace view() { return {begin_, bytes_}; }
  bool intact() const {
    for (std::size_t i = 0; i < kGuard; ++i)
      if (begin_[bytes_ + i] != kMark) return false;
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr unsigned char kMark = 0xA5;
  std::size_t bytes_;
  std::vector<unsigned char> memory_;
  unsigned char* begin_;
};

/// An output of `count` elements that starts as the given byte, NaN for 0xFF.
template <class T>
std::vector<T> filled(std::int64_t count, unsigned char fill) {
  std::vector<T> out(static_cast<std::size_t>(count));
  std::memset(out.data(), fill, out.size() * sizeof(T));
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// |got - want| <= limit * scale for each element; scale: the largest magnitude wanted, at least 1.
template <class T>
::testing::AssertionResult close(const std::vector<T>& got, const std::vector<double>& want,
                                 double limit) {
  if (got.size() != want.size()) return ::testing::AssertionFailure() << "sizes differ";
  double scale = 1;
  for (double value : want) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= limit * scale))
      return ::testing::AssertionFailure()
             << "element " << i << ": expected " << want[i] << ", got " << got[i];
  return ::testing::AssertionSuccess();
}

template <class T>
constexpr double kLimit = sizeof(T) == 8 ? 1e-13 : 4e-6;

template <class T>
Tensor view(std::vector<T>& data, const Shape& shape) {
  return {data.data(), shape, dtype_of<T>};
}
template <class T>
ConstTensor view(const std::vector<T>& data, const Shape& shape) {
  return {data.data(), shape, dtype_of<T>};
}

}  // namespace arenagrad::cpu_test
