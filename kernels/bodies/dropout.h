// Dropout: an element is kept when its word reaches p * 2^32, and is then scaled by 1 / (1 - p).
// The mask is drawn, stored or both; the factor is the same number in each form.
#pragma once

#include <cstdint>

#include "kernels/bodies/random.h"

namespace arenagrad::bodies {

/// The factor of a kept element.
template <class T>
T keep_scale(double p) {
  return static_cast<T>(1.0 / (1.0 - p));
}

/// The smallest word of a kept element; p in [0, 1).
constexpr std::uint32_t keep_threshold(double p) { return static_cast<std::uint32_t>(p * 0x1p32); }

/// 1 for a kept element, 0 for another: the borrow of a subtraction, because a jump on a random bit
/// is guessed wrong every other time.
ARENAGRAD_HD inline std::int32_t keeps(std::uint32_t word, std::uint32_t threshold) {
  return 1 - static_cast<std::int32_t>((std::uint64_t{word} - threshold) >> 63);
}

template <class T, bool kAccumulate, class Order>
struct Dropout {
  SampleWords words;
  std::uint32_t threshold;
  T scale;
  std::int64_t elements;
  Order place;
  const T* x;
  T* y;

  ARENAGRAD_HD void operator()(std::int64_t sample, std::int64_t group) const {
    const PhiloxCounter block = words(sample, group);
    const std::int64_t first = 4 * group;
    const std::int64_t count = elements - first < 4 ? elements - first : 4;
    const std::int64_t base = sample * elements + first;
    for (std::int64_t i = 0; i < count; ++i) {
      const T factor = static_cast<T>(keeps(block.word[i], threshold)) * scale;
      const std::int64_t at = place(base + i);
      store<kAccumulate>(y + at, x[at] * factor);
    }
  }
};

/// `kept` where an element is kept, else 0: as a draw for RandomFill.
template <class T>
struct MaskDraw {
  std::uint32_t threshold;
  T kept;
  ARENAGRAD_HD Four<T> operator()(const PhiloxCounter& words) const {
    Four<T> out;
    for (int i = 0; i < 4; ++i)
      out.value[i] = static_cast<T>(static_cast<T>(keeps(words.word[i], threshold)) * kept);
    return out;
  }
};

/// A mask of one byte an element.
template <class T, bool kAccumulate>
struct ApplyByteMask {
  T scale;
  const std::uint8_t* mask;
  const T* x;
  T* y;
  ARENAGRAD_HD void operator()(std::int64_t i) const {
    store<kAccumulate>(y + i, x[i] * (mask[i] != 0 ? scale : T(0)));
  }
};

/// A mask of factors.
template <class T, bool kAccumulate>
struct ApplyFactorMask {
  const T* mask;
  const T* x;
  T* y;
  ARENAGRAD_HD void operator()(std::int64_t i) const { store<kAccumulate>(y + i, x[i] * mask[i]); }
};

}  // namespace arenagrad::bodies
