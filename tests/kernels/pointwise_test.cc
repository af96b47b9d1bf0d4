#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

// Several tiles of work, the last one odd.
constexpr std::int64_t kCount = 3 * 5 * 2999;

template <class T>
class Pointwise : public ::testing::Test {};
TYPED_TEST_SUITE(Pointwise, Floats);

template <class T, class Formula>
std::vector<double> map(const std::vector<T>& a, const Formula& formula) {
  std::vector<double> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(formula(i));
  return out;
}

template <class T>
void expect_filled(double value, T want) {
  const auto out = at_any_threads([&](Backend& backend) {
    std::vector<T> t = filled<T>(kCount, 0xFF);
    backend.fill(view(t, {3, 5, 2999}), value);
    return t;
  });
  EXPECT_EQ(out, std::vector<T>(kCount, want));
}

TEST(Fill, SetsEveryType) {
  expect_filled<float>(0.1, 0.1f);
  expect_filled<double>(0.1, 0.1);
  expect_filled<std::int64_t>(-3, -3);
  expect_filled<std::int32_t>(-3, -3);
  expect_filled<std::uint8_t>(200, 200);
}

TEST(Increment, CountsBatches) {
  CpuBackend backend(2);
  std::vector<std::int64_t> counter{41};
  backend.increment(view(counter, {1}));
  EXPECT_EQ(counter[0], 42);
}

TEST(HostCopy, MovesWholeTensors) {
  CpuBackend backend(1);
  const std::vector<double> from = values<double>(15, 1);
  std::vector<double> there(15), back(15);
  backend.copy_from_host(view(there, {3, 5}), from.data());
  backend.copy_to_host(back.data(), view(there, {3, 5}));
  EXPECT_EQ(back, from);
}

TYPED_TEST(Pointwise, AddCopiesOrAccumulates) {
  using T = TypeParam;
  const std::vector<T> from = values<T>(kCount, 1);
  expect_written<T>({from.begin(), from.end()}, [&](Backend& backend, Write write, auto& to) {
    backend.add(view(from, {kCount}), view(to, {kCount}), write);
  });
}

TYPED_TEST(Pointwise, SumMayOverwriteEitherInput) {
  using T = TypeParam;
  const std::vector<T> a = values<T>(kCount, 1), b = values<T>(kCount, 2);
  const auto want = map(a, [&](std::size_t i) { return double{a[i] + b[i]}; });
  for (int into : {0, 1, 2}) {
    const auto got = at_any_threads([&](Backend& backend) {
      std::vector<T> x = a, y = b, z(kCount);
      std::vector<T>& out = into == 0 ? x : into == 1 ? y : z;
      backend.sum(view(x, {kCount}), view(y, {kCount}), view(out, {kCount}));
      return out;
    });
    EXPECT_TRUE(close(got, want, 0)) << "into " << into;
  }
}

TYPED_TEST(Pointwise, SlicesLieWhereTheyShould) {
  using T = TypeParam;
  constexpr std::int64_t kOuter = 3, kRow = 7001, kWide = 16003, kBegin = 5;
  const SliceProblem problem{kOuter, kRow, kWide, kBegin, 1, dtype_of<T>};
  const std::vector<T> narrow = values<T>(kOuter * kRow, 1), wide = values<T>(kOuter * kWide, 2);
  std::vector<double> put(wide.begin(), wide.end()), got;
  for (std::int64_t r = 0; r < kOuter; ++r)
    for (std::int64_t i = 0; i < kRow; ++i) {
      put[r * kWide + kBegin + i] = narrow[r * kRow + i];
      got.push_back(wide[r * kWide + kBegin + i]);
    }
  const auto out = at_any_threads([&](Backend& backend) {
    std::vector<T> t = wide;
    backend.copy_into_slice(problem, view(narrow, {kOuter, kRow}), view(t, {kOuter, kWide}));
    return t;
  });
  EXPECT_TRUE(close(out, put, 0));
  expect_written<T>(got, [&](Backend& backend, Write write, std::vector<T>& t) {
    backend.copy_from_slice(problem, view(wide, {kOuter, kWide}), view(t, {kOuter, kRow}), write);
  });
}

/// Values in [-8, 8), with the special ones in front.
template <class T>
std::vector<T> relu_input() {
  std::vector<T> x = values<T>(kCount, 5);
  for (T& v : x) v *= 8;
  x[0] = T(0);
  x[1] = T(-0.0);
  x[2] = T(6);
  x[3] = std::numeric_limits<T>::infinity();
  x[4] = -std::numeric_limits<T>::infinity();
  return x;
}

TYPED_TEST(Pointwise, ReluClipsAlsoInPlace) {
  using T = TypeParam;
  for (double ceiling : {0.0, 6.0}) {
    const std::vector<T> x = relu_input<T>();
    const auto compute = [&](bool in_place) {
      return at_any_threads([&](Backend& backend) {
        std::vector<T> from = x, y(kCount);
        std::vector<T>& out = in_place ? from : y;
        backend.relu_forward(ceiling, view(from, {kCount}), view(out, {kCount}));
        return out;
      });
    };
    const std::vector<T> y = compute(false);
    EXPECT_TRUE(same_bits(y, compute(true)));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const T positive = std::max(x[i], T(0));
      ASSERT_EQ(y[i], ceiling > 0 ? std::min(positive, T(6)) : positive) << i;
    }
  }
}

TYPED_TEST(Pointwise, ReluPassesNaN) {
  using T = TypeParam;
  CpuBackend backend(1);
  for (double ceiling : {0.0, 6.0}) {
    std::vector<T> x(9, std::numeric_limits<T>::quiet_NaN()), y(9);
    backend.relu_forward(ceiling, view(x, {9}), view(y, {9}));
    for (T v : y) EXPECT_TRUE(std::isnan(v));
  }
}

TYPED_TEST(Pointwise, ReluBackwardIsOpenInside) {
  using T = TypeParam;
  const std::vector<T> dy = values<T>(kCount, 6);
  for (double ceiling : {0.0, 6.0}) {
    std::vector<T> y = relu_input<T>();
    CpuBackend(1).relu_forward(ceiling, view(y, {kCount}), view(y, {kCount}));
    const auto want = map(y, [&](std::size_t i) {
      return y[i] > 0 && (ceiling == 0 || y[i] < T(6)) ? double{dy[i]} : 0.0;
    });
    expect_written<T>(want, [&](Backend& backend, Write write, std::vector<T>& dx) {
      backend.relu_backward(ceiling, view(y, {kCount}), view(dy, {kCount}), view(dx, {kCount}),
                            write);
    });
    std::vector<T> in_place = dy;
    CpuBackend(2).relu_backward(ceiling, view(y, {kCount}), view(in_place, {kCount}),
                                view(in_place, {kCount}), Write::overwrite);
    EXPECT_TRUE(close(in_place, want, 0)) << "in place";
  }
}

TEST(Contracts, TypesAreChecked) {
  CpuBackend backend(1);
  std::vector<float> f(4);
  std::vector<double> d(4);
  std::vector<std::int64_t> i(4);
  EXPECT_THROW(backend.add(view(d, {4}), view(f, {4}), Write::overwrite), ContractError);
  EXPECT_THROW(backend.sum(view(i, {4}), view(i, {4}), view(i, {4})), ContractError);
  EXPECT_THROW(CpuBackend(0), ContractError);
}

}  // namespace
}  // namespace arenagrad
