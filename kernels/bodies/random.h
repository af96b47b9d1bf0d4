// From Philox words to the numbers of the program: normal, uniform, labels. All in f32 and with
// operations that every IEEE machine rounds alike, so a sample's noise has the same bits on every
// backend and whatever the C library.
//
// Key: the stream's seed, purpose and node, mixed. Counter: (element / 4 low, high, place of the
// sample in the step's whole batch, step). Element e of a sample takes word e % 4 of its block.
// Parameters have no samples: a whole tensor counts as one, so its values don't depend on how its
// elements are cut into dimensions.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/bodies/layout.h"
#include "kernels/bodies/philox.h"
#include "kernels/random.h"

namespace arenagrad::bodies {

/// A bijection of 64-bit numbers whose every output bit depends on every input bit (the finaliser
/// of SplitMix64).
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Different (purpose, node) have different keys under one seed, and different seeds under one
/// (purpose, node).
constexpr PhiloxKey philox_key(const RandomStream& stream) {
  const std::uint64_t place =
      (static_cast<std::uint64_t>(stream.purpose) << 32) | static_cast<std::uint64_t>(stream.node);
  const std::uint64_t key = mix_bits(mix_bits(stream.seed) ^ place);
  return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
}

/// A stream as bodies see it.
struct SampleWords {
  PhiloxKey key;
  std::uint32_t step;
  std::int64_t first_sample;

  ARENAGRAD_HD PhiloxCounter operator()(std::int64_t sample, std::int64_t group) const {
    const auto low = static_cast<std::uint64_t>(group);
    return philox({{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                    static_cast<std::uint32_t>(first_sample + sample), step}},
                  key);
  }
};

constexpr SampleWords sample_words(const RandomStream& stream) {
  return {philox_key(stream), stream.step, stream.first_sample};
}

/// Four words as four numbers.
template <class T>
struct Four {
  T value[4];
};

/// ln(u) for 0 < u <= 1, u normal. With u = m * 2^e and m within a factor sqrt(2) of 1,
/// ln(m) = 2 artanh(s), s = (m - 1) / (m + 1), |s| <= 0.172: five terms reach f32's precision.
ARENAGRAD_HD inline float natural_log(float u) {
  constexpr std::uint32_t kHalfRoot = 0x3F3504F3;  // sqrt(1/2) in f32
  std::uint32_t bits;
  std::memcpy(&bits, &u, sizeof bits);
  bits -= kHalfRoot;
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
  bits = (bits & 0x007FFFFFu) + kHalfRoot;
  float m;
  std::memcpy(&m, &bits, sizeof m);
  const float s = rounded_quotient(m - 1.0f, m + 1.0f);
  const float z = rounded_product(s, s);
  float series = rounded_product(z, 1.0f / 9) + 1.0f / 7;
  series = rounded_product(z, series) + 1.0f / 5;
  series = rounded_product(z, series) + 1.0f / 3;
  const float twice = 2.0f * s;
  const float log_m = twice + rounded_product(twice, rounded_product(z, series));
  // ln 2 in two parts; the product with the first is exact.
  return rounded_product(exponent, 0.693145752f) +
         (rounded_product(exponent, 1.42860677e-6f) + log_m);
}

/// A pair of independent standard normals from two words (Box and Muller): sqrt(-2 ln u) times the
/// cosine and sine of a uniform angle. The angle's quarter is two bits of the word, the place
/// within the quarter the others, so that the series are needed in [-pi/4, pi/4] alone.
ARENAGRAD_HD inline void normal_pair(std::uint32_t first, std::uint32_t second, float* a,
                                     float* b) {
  const float u =
      rounded_product(static_cast<float>(static_cast<std::int32_t>(first >> 1)), 0x1p-31f) +
      0x1p-32f;
  const float radius = rounded_square_root(-2.0f * natural_log(u));
  const float angle = rounded_product(static_cast<float>(static_cast<std::int32_t>(second << 2)),
                                      0.785398163f * 0x1p-31f);
  const float z = rounded_product(angle, angle);
  float sine = rounded_product(z, 1.0f / 362880) - 1.0f / 5040;
  sine = rounded_product(z, sine) + 1.0f / 120;
  sine = rounded_product(z, sine) - 1.0f / 6;
  sine = angle + rounded_product(angle, rounded_product(z, sine));
  float cosine = rounded_product(z, -1.0f / 3628800) + 1.0f / 40320;
  cosine = rounded_product(z, cosine) - 1.0f / 720;
  cosine = rounded_product(z, cosine) + 1.0f / 24;
  cosine = rounded_product(z, cosine) - 0.5f;
  cosine = 1.0f + rounded_product(z, cosine);
  const std::uint32_t quarter = second >> 30;
  const bool odd = (quarter & 1) != 0;
  const float x = odd ? sine : cosine;
  const float y = odd ? cosine : sine;
  *a = rounded_product(radius, quarter == 1 || quarter == 2 ? -x : x);
  *b = rounded_product(radius, quarter >= 2 ? -y : y);
}

struct NormalDraw {
  float scale;
  ARENAGRAD_HD Four<float> operator()(const PhiloxCounter& words) const {
    Four<float> out;
    normal_pair(words.word[0], words.word[1], &out.value[0], &out.value[1]);
    normal_pair(words.word[2], words.word[3], &out.value[2], &out.value[3]);
    for (float& value : out.value) value = rounded_product(scale, value);
    return out;
  }
};

/// Multiples of 2^-23 in [-1, 1), times the bound.
struct UniformDraw {
  float bound;
  ARENAGRAD_HD Four<float> operator()(const PhiloxCounter& words) const {
    Four<float> out;
    for (int i = 0; i < 4; ++i) {
      const auto k = static_cast<float>(static_cast<std::int32_t>(words.word[i] >> 8));
      out.value[i] = rounded_product(bound, rounded_product(k, 0x1p-23f) - 1.0f);
    }
    return out;
  }
};

/// Uniform in [0, classes); classes up to 2^32.
struct LabelDraw {
  std::uint64_t classes;
  ARENAGRAD_HD Four<std::int64_t> operator()(const PhiloxCounter& words) const {
    Four<std::int64_t> out;
    for (int i = 0; i < 4; ++i)
      out.value[i] = static_cast<std::int64_t>((classes * words.word[i]) >> 32);
    return out;
  }
};

/// One call fills the four elements of a block, `elements` being a sample's.
template <class T, class Draw, class Order>
struct RandomFill {
  SampleWords words;
  Draw draw;
  std::int64_t elements;
  Order place;
  T* out;

  ARENAGRAD_HD void operator()(std::int64_t sample, std::int64_t group) const {
    const auto four = draw(words(sample, group));
    const std::int64_t first = 4 * group;
    const std::int64_t base = sample * elements + first;
    if (elements - first >= 4) {
      for (int i = 0; i < 4; ++i) out[place(base + i)] = static_cast<T>(four.value[i]);
    } else {
      for (std::int64_t i = 0; i < elements - first; ++i)
        out[place(base + i)] = static_cast<T>(four.value[i]);
    }
  }
};

}  // namespace arenagrad::bodies
