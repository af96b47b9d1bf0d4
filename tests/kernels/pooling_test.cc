#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

// An axis as a spec has it: how many outputs there are is part of the case, written by hand.
struct Case {
  const char* name;
  std::int64_t batch, channels;
  PoolAxis h, w;
};

constexpr PoolAxis axis(std::int64_t length, std::int64_t output, std::int64_t kernel,
                        std::int64_t stride, std::int64_t pad = 0) {
  return {length, output, kernel, stride, pad, false};
}
constexpr PoolAxis bins(std::int64_t length, std::int64_t output) {
  return {length, output, 0, 0, 0, true};
}

const Case kWindows[] = {
    {"one", 1, 1, axis(1, 1, 1, 1), axis(1, 1, 1, 1)},
    {"halves", 2, 3, axis(8, 4, 2, 2), axis(6, 3, 2, 2)},
    {"overlap", 2, 3, axis(13, 6, 3, 2), axis(15, 7, 3, 2)},
    {"stem", 2, 2, axis(11, 6, 3, 2, 1), axis(12, 6, 3, 2, 1)},
    {"dense", 1, 3, axis(7, 7, 3, 1, 1), axis(5, 5, 5, 1, 2)},
    {"gaps", 2, 2, axis(11, 3, 2, 4), axis(12, 4, 1, 3)},
    {"unlike_axes", 2, 2, axis(9, 4, 2, 2), axis(10, 4, 4, 2, 0)},
    {"ceil_mode", 2, 2, axis(8, 4, 3, 2), axis(6, 3, 3, 2)},
    {"ceil_mode_padded", 2, 2, axis(7, 4, 2, 2, 1), axis(10, 6, 3, 2, 1)},
    {"ceil_mode_two_edges", 1, 2, axis(5, 2, 4, 3, 1), axis(4, 2, 4, 3, 2)},
    {"whole", 3, 2, axis(5, 1, 5, 5), axis(7, 1, 7, 1)},
    {"wide", 1, 2, axis(3, 2, 2, 1), axis(301, 151, 3, 2, 1)},
    {"many_strips", 1, 1, axis(4, 2, 2, 2), axis(523, 261, 3, 2)},
    {"large_window", 1, 2, axis(40, 2, 20, 20), axis(40, 3, 20, 10)},
    {"many_planes", 4, 37, axis(12, 6, 3, 2, 1), axis(12, 6, 3, 2, 1)},
};

const Case kBins[] = {
    {"global", 3, 5, bins(7, 1), bins(9, 1)},
    {"same", 2, 3, bins(6, 6), bins(5, 5)},
    {"even", 2, 3, bins(8, 4), bins(6, 2)},
    {"overlapping", 2, 3, bins(7, 3), bins(10, 7)},
    {"more_bins_than_inputs", 2, 3, bins(3, 7), bins(6, 13)},
    {"alexnet", 1, 2, bins(13, 6), bins(5, 6)},
};

std::int64_t planes(const Case& c) { return c.batch * c.channels; }
std::int64_t input_count(const Case& c) { return planes(c) * c.h.length * c.w.length; }
std::int64_t output_count(const Case& c) { return planes(c) * c.h.output * c.w.output; }
PoolProblem problem(const Case& c, DType dtype, bool count_include_pad = true) {
  return {planes(c), c.h, c.w, count_include_pad, dtype};
}
template <class V>
auto input_view(const Case& c, V& data) {
  return view(data, {c.batch, c.channels, c.h.length, c.w.length});
}
template <class V>
auto output_view(const Case& c, V& data) {
  return view(data, {c.batch, c.channels, c.h.output, c.w.output});
}

// The definition of a window along one axis, before it is cut to the input.
struct Span {
  std::int64_t begin, end;
};
Span span_of(const PoolAxis& a, std::int64_t o) {
  if (!a.adaptive) return {o * a.stride - a.pad, o * a.stride - a.pad + a.kernel};
  const double step = static_cast<double>(a.length) / static_cast<double>(a.output);
  return {static_cast<std::int64_t>(std::floor(static_cast<double>(o) * step + 1e-9)),
          static_cast<std::int64_t>(std::ceil(static_cast<double>(o + 1) * step - 1e-9))};
}

/// visit(output, input, place in the window, place in the plane, divisor with padding counted,
/// divisor without) for every input under a window, in row-major order.
template <class Visit>
void for_windows(const Case& c, const Visit& visit) {
  std::int64_t out = 0;
  for (std::int64_t p = 0; p < planes(c); ++p)
    for (std::int64_t y = 0; y < c.h.output; ++y)
      for (std::int64_t x = 0; x < c.w.output; ++x, ++out) {
        const Span v = span_of(c.h, y), u = span_of(c.w, x);
        std::int64_t inside = 0, padded = 0;
        for (std::int64_t i = v.begin; i < v.end; ++i)
          for (std::int64_t j = u.begin; j < u.end; ++j) {
            inside += i >= 0 && i < c.h.length && j >= 0 && j < c.w.length;
            padded += i < c.h.length + c.h.pad && j < c.w.length + c.w.pad;
          }
        for (std::int64_t i = v.begin; i < v.end; ++i)
          for (std::int64_t j = u.begin; j < u.end; ++j)
            if (i >= 0 && i < c.h.length && j >= 0 && j < c.w.length)
              visit(out, (p * c.h.length + i) * c.w.length + j,
                    (i - v.begin) * c.w.kernel + j - u.begin, i * c.w.length + j, padded, inside);
      }
}

struct Maxima {
  std::vector<double> value;
  std::vector<std::int64_t> input, window_place, plane_place;
};

template <class T>
Maxima maxima(const Case& c, const std::vector<T>& x) {
  const auto count = static_cast<std::size_t>(output_count(c));
  Maxima m{std::vector<double>(count), std::vector<std::int64_t>(count, -1),
           std::vector<std::int64_t>(count), std::vector<std::int64_t>(count)};
  for_windows(c, [&](std::int64_t out, std::int64_t in, std::int64_t in_window,
                     std::int64_t in_plane, std::int64_t, std::int64_t) {
    if (m.input[out] >= 0 && !(double{x[in]} > m.value[out])) return;
    m.value[out] = x[in];
    m.input[out] = in;
    m.window_place[out] = in_window;
    m.plane_place[out] = in_plane;
  });
  return m;
}

/// Few different values, so that a window has several maxima.
template <class T>
std::vector<T> with_ties(std::int64_t count) {
  std::vector<T> x = values<T>(count, 3);
  for (T& v : x) v = std::round(v * 3);
  return x;
}

template <class T>
class Pooling : public ::testing::Test {};
TYPED_TEST_SUITE(Pooling, Floats);

template <class T, class Index>
void expect_max_pool(const Case& c) {
  const PoolProblem p = problem(c, dtype_of<T>);
  const std::vector<T> x = with_ties<T>(input_count(c)), dy = values<T>(output_count(c), 4);
  const Maxima want = maxima(c, x);
  std::vector<Index> index(output_count(c));
  const auto y = at_any_threads([&](Backend& backend) {
    std::vector<T> out = filled<T>(output_count(c), 0xFF);
    index = filled<Index>(output_count(c), 0xFF);
    backend.max_pool_forward(p, input_view(c, x), output_view(c, out), output_view(c, index));
    return out;
  });
  EXPECT_TRUE(close(y, want.value, 0));
  const auto& places = sizeof(Index) == 8 ? want.plane_place : want.window_place;
  EXPECT_EQ(std::vector<std::int64_t>(index.begin(), index.end()), places);

  std::vector<double> dx(input_count(c));
  for (std::size_t i = 0; i < dy.size(); ++i) dx[want.input[i]] += dy[i];
  expect_written<T>(dx, [&](Backend& backend, Write write, std::vector<T>& out) {
    backend.max_pool_backward(p, output_view(c, std::as_const(index)), output_view(c, dy),
                              input_view(c, out), write);
  });
}

TYPED_TEST(Pooling, MaxKeepsPlacesInTheWindow) {
  for (const Case& c : kWindows) {
    SCOPED_TRACE(c.name);
    expect_max_pool<TypeParam, std::int32_t>(c);
    if (c.h.kernel * c.w.kernel <= 256) expect_max_pool<TypeParam, std::uint8_t>(c);
  }
}

TYPED_TEST(Pooling, MaxKeepsPlacesInThePlane) {
  for (const Case& c : kWindows) {
    SCOPED_TRACE(c.name);
    expect_max_pool<TypeParam, std::int64_t>(c);
  }
}

TYPED_TEST(Pooling, MaxNeedsNoIndex) {
  using T = TypeParam;
  for (const Case& c : kWindows) {
    SCOPED_TRACE(c.name);
    const std::vector<T> x = values<T>(input_count(c), 9);
    std::vector<T> y(output_count(c));
    CpuBackend(2).max_pool_forward(problem(c, dtype_of<T>), input_view(c, x), output_view(c, y),
                                   Tensor{});
    EXPECT_TRUE(close(y, maxima(c, x).value, 0));
  }
}

TYPED_TEST(Pooling, MaxTakesNaNAndSurvivesMinusInfinity) {
  using T = TypeParam;
  const Case c{"", 1, 1, axis(4, 2, 3, 2, 1), axis(4, 2, 3, 2, 1)};
  std::vector<T> x(16, -std::numeric_limits<T>::infinity()), y(4);
  std::vector<std::uint8_t> index(4, 0xFF);
  x[5] = std::numeric_limits<T>::quiet_NaN();  // under all four windows
  const PoolProblem p = problem(c, dtype_of<T>);
  CpuBackend(1).max_pool_forward(p, input_view(c, x), output_view(c, y), output_view(c, index));
  for (T v : y) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(index, (std::vector<std::uint8_t>{8, 6, 2, 0}));
  x[5] = -std::numeric_limits<T>::infinity();
  CpuBackend(1).max_pool_forward(p, input_view(c, x), output_view(c, y), output_view(c, index));
  for (T v : y) EXPECT_EQ(v, -std::numeric_limits<T>::infinity());
  // The first place that holds an input: padding is never chosen.
  EXPECT_EQ(index, (std::vector<std::uint8_t>{4, 3, 1, 0}));
}

template <class T>
void expect_avg_pool(const Case& c, bool count_include_pad) {
  const PoolProblem p = problem(c, dtype_of<T>, count_include_pad);
  const std::vector<T> x = values<T>(input_count(c), 5), dy = values<T>(output_count(c), 6);
  std::vector<double> y(output_count(c)), dx(input_count(c));
  for_windows(c, [&](std::int64_t out, std::int64_t in, std::int64_t, std::int64_t,
                     std::int64_t padded, std::int64_t inside) {
    const auto divisor = static_cast<double>(count_include_pad && !c.h.adaptive ? padded : inside);
    y[out] += x[in] / divisor;
    dx[in] += dy[out] / divisor;
  });
  const auto got = at_any_threads([&](Backend& backend) {
    std::vector<T> out = filled<T>(output_count(c), 0xFF);
    backend.avg_pool_forward(p, input_view(c, x), output_view(c, out));
    return out;
  });
  EXPECT_TRUE(close(got, y, kLimit<T>));
  expect_written<T>(dx, [&](Backend& backend, Write write, std::vector<T>& out) {
    backend.avg_pool_backward(p, output_view(c, dy), input_view(c, out), write);
  });
}

TYPED_TEST(Pooling, AverageCountsPaddingButNothingBeyond) {
  for (const Case& c : kWindows) {
    SCOPED_TRACE(c.name);
    expect_avg_pool<TypeParam>(c, true);
  }
}

TYPED_TEST(Pooling, AverageMayLeavePaddingOut) {
  for (const Case& c : kWindows) {
    SCOPED_TRACE(c.name);
    expect_avg_pool<TypeParam>(c, false);
  }
}

TYPED_TEST(Pooling, AverageOfBins) {
  for (const Case& c : kBins) {
    SCOPED_TRACE(c.name);
    expect_avg_pool<TypeParam>(c, true);
  }
}

TEST(PoolingContracts, MaxRefusesBinsAndOtherIndices) {
  CpuBackend backend(1);
  std::vector<float> x(16), y(4), index(4);
  const Case c{"", 1, 1, axis(4, 2, 2, 2), axis(4, 2, 2, 2)};
  EXPECT_THROW(backend.max_pool_forward(problem(c, DType::f32), input_view(c, x), output_view(c, y),
                                        output_view(c, index)),
               ContractError);
  const Case adaptive{"", 1, 1, bins(4, 2), bins(4, 2)};
  EXPECT_THROW(backend.max_pool_forward(problem(adaptive, DType::f32), input_view(c, x),
                                        output_view(c, y), Tensor{}),
               ContractError);
}

}  // namespace
}  // namespace arenagrad
