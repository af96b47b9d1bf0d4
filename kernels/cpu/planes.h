// Loops over a run of values that are worth compiling for several instruction sets; which copy runs
// is picked when the program starts, and all copies give the same bits. Sums are in double, eight
// running sums added in a fixed order.
#pragma once

#include <cstdint>

namespace arenagrad::cpu {

/// Sum of x.
double plane_sum(const float* x, std::int64_t length);
double plane_sum(const double* x, std::int64_t length);

/// Sum of (x - mean)^2.
double plane_squares(const float* x, double mean, std::int64_t length);
double plane_squares(const double* x, double mean, std::int64_t length);

/// Sum of dy * (x - mean).
double plane_products(const float* dy, const float* x, double mean, std::int64_t length);
double plane_products(const double* dy, const double* x, double mean, std::int64_t length);

/// y = (x - mean) * scale + offset; y may be x.
void plane_normalise(const float* x, float mean, float scale, float offset, float* y,
                     std::int64_t length);
void plane_normalise(const double* x, double mean, double scale, double offset, double* y,
                     std::int64_t length);

/// dx (=|+=) (dy - dy_mean - (x - mean) * slope) * scale; dx may be dy.
template <class T>
struct NormaliseGradient {
  T dy_mean, mean, slope, scale;
};
void plane_normalise_gradient(const NormaliseGradient<float>& of, const float* x, const float* dy,
                              float* dx, bool accumulate, std::int64_t length);
void plane_normalise_gradient(const NormaliseGradient<double>& of, const double* x,
                              const double* dy, double* dx, bool accumulate, std::int64_t length);

}  // namespace arenagrad::cpu
