// What the tests of the backend's methods share.
#pragma once

#include "kernels/cpu/backend.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu_test {

/// What compute(backend) returns, a vector, at 1, 2 and 3 threads: the bits must agree.
template <class Compute>
auto at_any_threads(const Compute& compute) {
  CpuBackend one(1), two(2), three(3);
  const auto result = compute(one);
  EXPECT_TRUE(same_bits(result, compute(two))) << "2 threads differ from 1";
  EXPECT_TRUE(same_bits(result, compute(three))) << "3 threads differ from 1";
  return result;
}

/// compute(write, out) both ways: overwriting NaNs gives `want`, accumulating adds `want` to what
/// is there.
template <class T, class Compute>
void expect_written(const std::vector<double>& want, const Compute& compute,
                    double limit = kLimit<T>) {
  const auto count = static_cast<std::int64_t>(want.size());
  const auto fresh = at_any_threads([&](Backend& backend) {
    std::vector<T> out = filled<T>(count, 0xFF);
    compute(backend, Write::overwrite, out);
    return out;
  });
  EXPECT_TRUE(close(fresh, want, limit)) << "overwrite";
  const std::vector<T> before = values<T>(count, 77);
  const auto added = at_any_threads([&](Backend& backend) {
    std::vector<T> out = before;
    compute(backend, Write::accumulate, out);
    return out;
  });
  std::vector<double> total(want);
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += static_cast<double>(before[i]);
  EXPECT_TRUE(close(added, total, limit)) << "accumulate";
}

using Floats = ::testing::Types<float, double>;

}  // namespace arenagrad::cpu_test
