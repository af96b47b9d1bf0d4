#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

struct Case {
  std::int64_t batch, channels, spatial, size;
  double alpha, beta, k;
};

const Case kCases[] = {
    {2, 7, 9, 5, 1e-4, 0.75, 2},  {2, 7, 133, 5, 0.9, 0.75, 1}, {3, 6, 5, 4, 0.8, 0.75, 1},
    {1, 5, 11, 2, 0.7, 0.5, 1.5}, {2, 3, 7, 7, 0.6, 0.75, 1},   {1, 2, 3, 8, 0.6, 1.3, 1},
    {1, 4, 6, 1, 0.5, 0.75, 0.5}, {1, 1, 1, 3, 0.5, 0.75, 1},   {3, 11, 700, 3, 0.5, 0.6, 1},
};

struct Reference {
  std::vector<double> scale, y, dx;
};

/// Forward by its definition, backward by the chain rule, output by output.
template <class T>
Reference reference(const Case& c, const std::vector<T>& x, const std::vector<T>& dy) {
  const std::size_t count = x.size();
  Reference r{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  const double n = static_cast<double>(c.size);
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t ch = 0; ch < c.channels; ++ch)
      for (std::int64_t s = 0; s < c.spatial; ++s) {
        const auto at = [&](std::int64_t d) { return (b * c.channels + d) * c.spatial + s; };
        const std::int64_t first = std::max<std::int64_t>(0, ch - c.size / 2);
        const std::int64_t last = std::min(c.channels - 1, ch + (c.size - 1) / 2);
        double sum = 0;
        for (std::int64_t d = first; d <= last; ++d) sum += double{x[at(d)]} * x[at(d)];
        const double scale = c.k + c.alpha / n * sum;
        r.scale[at(ch)] = scale;
        r.y[at(ch)] = x[at(ch)] * std::pow(scale, -c.beta);
        r.dx[at(ch)] += dy[at(ch)] * std::pow(scale, -c.beta);
        const double by_scale = -c.beta * x[at(ch)] * std::pow(scale, -c.beta - 1) * dy[at(ch)];
        for (std::int64_t d = first; d <= last; ++d)
          r.dx[at(d)] += by_scale * c.alpha / n * 2 * x[at(d)];
      }
  return r;
}

template <class T>
class Lrn : public ::testing::Test {};
TYPED_TEST_SUITE(Lrn, Floats);

TYPED_TEST(Lrn, FollowsItsDefinition) {
  using T = TypeParam;
  for (const Case& c : kCases) {
    SCOPED_TRACE("channels " + std::to_string(c.channels) + " size " + std::to_string(c.size));
    const std::int64_t count = c.batch * c.channels * c.spatial;
    const LrnProblem p{c.batch, c.channels, c.spatial, c.size, c.alpha, c.beta, c.k, dtype_of<T>};
    std::vector<T> x = values<T>(count, 1);
    for (T& v : x) v *= 3;
    const std::vector<T> dy = values<T>(count, 2);
    const Reference want = reference(c, x, dy);
    const auto shaped = [&](auto& data) { return view(data, {c.batch, c.channels, c.spatial}); };
    std::vector<T> scale(count);
    const auto y = at_any_threads([&](Backend& backend) {
      std::vector<T> out = filled<T>(count, 0xFF);
      scale = filled<T>(count, 0xFF);
      backend.lrn_forward(p, shaped(x), shaped(scale), shaped(out));
      return out;
    });
    EXPECT_TRUE(close(y, want.y, kLimit<T>));
    EXPECT_TRUE(close(scale, want.scale, kLimit<T>));
    std::vector<T> unkept(count);
    CpuBackend(2).lrn_forward(p, shaped(x), Tensor{}, shaped(unkept));
    EXPECT_TRUE(same_bits(unkept, y));
    expect_written<T>(want.dx, [&](Backend& backend, Write write, std::vector<T>& dx) {
      backend.lrn_backward(p, shaped(x), shaped(std::as_const(scale)), shaped(dy), shaped(dx),
                           write);
    });
  }
}

}  // namespace
}  // namespace arenagrad
