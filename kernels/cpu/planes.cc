#include "kernels/cpu/planes.h"

#include "kernels/cpu/per_machine.h"

namespace arenagrad::cpu {

namespace {

template <class Value>
ARENAGRAD_INLINE double sum_of(std::int64_t length, const Value& value) {
  constexpr std::int64_t kSums = 8;
  double sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= length; i += kSums)
    for (std::int64_t j = 0; j < kSums; ++j) sums[j] += value(i + j);
  for (std::int64_t j = 0; i < length; ++i, ++j) sums[j] += value(i);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <class T>
struct Sum {
  const T* x;
  ARENAGRAD_INLINE double operator()(std::int64_t i) const { return x[i]; }
};

template <class T>
struct Square {
  const T* x;
  double mean;
  ARENAGRAD_INLINE double operator()(std::int64_t i) const { return (x[i] - mean) * (x[i] - mean); }
};

template <class T>
struct Times {
  const T* dy;
  const T* x;
  double mean;
  ARENAGRAD_INLINE double operator()(std::int64_t i) const { return dy[i] * (x[i] - mean); }
};

template <class T>
ARENAGRAD_INLINE void normalise(const T* x, T mean, T scale, T offset, T* y, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i) y[i] = (x[i] - mean) * scale + offset;
}

template <class T>
ARENAGRAD_INLINE void normalise_gradient(const NormaliseGradient<T>& of, const T* x, const T* dy,
                                         T* dx, bool accumulate, std::int64_t length) {
  const auto [dy_mean, mean, slope, scale] = of;
  if (accumulate)
    for (std::int64_t i = 0; i < length; ++i)
      dx[i] += (dy[i] - dy_mean - (x[i] - mean) * slope) * scale;
  else
    for (std::int64_t i = 0; i < length; ++i)
      dx[i] = (dy[i] - dy_mean - (x[i] - mean) * slope) * scale;
}

}  // namespace

ARENAGRAD_PER_MACHINE double plane_sum(const float* x, std::int64_t length) {
  return sum_of(length, Sum<float>{x});
}
ARENAGRAD_PER_MACHINE double plane_sum(const double* x, std::int64_t length) {
  return sum_of(length, Sum<double>{x});
}
ARENAGRAD_PER_MACHINE double plane_squares(const float* x, double mean, std::int64_t length) {
  return sum_of(length, Square<float>{x, mean});
}
ARENAGRAD_PER_MACHINE double plane_squares(const double* x, double mean, std::int64_t length) {
  return sum_of(length, Square<double>{x, mean});
}
ARENAGRAD_PER_MACHINE double plane_products(const float* dy, const float* x, double mean,
                                            std::int64_t length) {
  return sum_of(length, Times<float>{dy, x, mean});
}
ARENAGRAD_PER_MACHINE double plane_products(const double* dy, const double* x, double mean,
                                            std::int64_t length) {
  return sum_of(length, Times<double>{dy, x, mean});
}
ARENAGRAD_PER_MACHINE void plane_normalise(const float* x, float mean, float scale, float offset,
                                           float* y, std::int64_t length) {
  normalise(x, mean, scale, offset, y, length);
}
ARENAGRAD_PER_MACHINE void plane_normalise(const double* x, double mean, double scale,
                                           double offset, double* y, std::int64_t length) {
  normalise(x, mean, scale, offset, y, length);
}
ARENAGRAD_PER_MACHINE void plane_normalise_gradient(const NormaliseGradient<float>& of,
                                                    const float* x, const float* dy, float* dx,
                                                    bool accumulate, std::int64_t length) {
  normalise_gradient(of, x, dy, dx, accumulate, length);
}
ARENAGRAD_PER_MACHINE void plane_normalise_gradient(const NormaliseGradient<double>& of,
                                                    const double* x, const double* dy, double* dx,
                                                    bool accumulate, std::int64_t length) {
  normalise_gradient(of, x, dy, dx, accumulate, length);
}

}  // namespace arenagrad::cpu
