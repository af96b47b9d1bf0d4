// The one macro of the kernel bodies, and float arithmetic that is rounded once per operation on
// every device.
//
// A body is a small aggregate with a `const` call operator: plain pointers and numbers, 64-bit
// indices, no containers, no virtual functions. The same text is compiled for the CPU and for CUDA.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define ARENAGRAD_HD __host__ __device__
#else
#define ARENAGRAD_HD
#endif

namespace arenagrad::bodies {

/// a * b, never fused with an addition that follows. Host code is built without contraction anyway.
ARENAGRAD_HD inline float rounded_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

ARENAGRAD_HD inline float rounded_quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

ARENAGRAD_HD inline float rounded_square_root(float a) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(a);
#else
  return std::sqrt(a);
#endif
}

/// *place (=|+=) value.
template <bool kAccumulate, class T>
ARENAGRAD_HD void store(T* place, T value) {
  *place = kAccumulate ? *place + value : value;
}

/// `count` of items [first, first + count): what strip number `strip` of `width` holds of `n`.
struct Strip {
  std::int64_t first, count;
  ARENAGRAD_HD Strip(std::int64_t strip, std::int64_t width, std::int64_t n)
      : first(strip * width), count(n - first < width ? n - first : width) {}
};

}  // namespace arenagrad::bodies
