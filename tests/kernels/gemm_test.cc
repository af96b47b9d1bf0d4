#include "kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/gemm_kernels.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu {
namespace {

using namespace cpu_test;

/// Memory aligned to 64 bytes for `count` elements, all NaN.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t count) : memory_(filled<T>(count + 64 / sizeof(T), 0xFF)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = memory_.data() + (64 - address % 64) % 64 / sizeof(T);
  }
  T* data() { return begin_; }

 private:
  std::vector<T> memory_;
  T* begin_;
};

struct Size {
  std::int64_t m, n, k;
};

// Below, at and above a block's rows, a vector, a strip, in every combination that differs.
const Size kSizes[] = {{1, 1, 1},     {1, 33, 2},   {2, 7, 9},    {3, 16, 5},   {4, 17, 1},
                       {5, 31, 3},    {6, 32, 8},   {7, 48, 4},   {8, 64, 33},  {9, 65, 7},
                       {12, 80, 6},   {13, 47, 19}, {16, 96, 10}, {23, 100, 1}, {31, 15, 300},
                       {40, 130, 50}, {2, 8, 40},   {11, 4, 3},   {10, 2, 5}};

using Multiply = void (*)(const Product<float>&, const Panel<float>&);
using MultiplyDouble = void (*)(const Product<double>&, const Panel<double>&);

/// One product: a stored plain or transposed, with wider rows than needed, c likewise.
template <class T, class Fn>
void check(const Size& size, bool transposed, bool accumulate, const Fn& multiply, bool builtin) {
  SCOPED_TRACE(std::to_string(size.m) + " x " + std::to_string(size.n) + " x " +
               std::to_string(size.k) + (transposed ? ", transposed" : "") +
               (accumulate ? ", accumulated" : ""));
  const std::int64_t a_stride = (transposed ? size.m : size.k) + 3, c_stride = size.n + 5;
  const std::vector<T> a = values<T>(a_stride * (transposed ? size.k : size.m), 1);
  const std::vector<T> b = values<T>(size.k * size.n, 2);
  std::vector<T> c =
      accumulate ? values<T>(c_stride * size.m, 3) : filled<T>(c_stride * size.m, 0xFF);
  const std::vector<T> before = c;

  Aligned<T> memory(panel_elements<T>(size.k, size.n));
  Panel<T> panel(size.k, size.n, memory.data());
  if (builtin) panel.width = kStrip<T>;
  pack(panel, b.data(), size.n);
  const Product<T> product{
      size.m,   a.data(),  transposed ? 1 : a_stride, transposed ? a_stride : 1, c.data(),
      c_stride, accumulate};
  multiply(product, panel);

  std::vector<T> inside;
  std::vector<double> want;
  for (std::int64_t i = 0; i < size.m; ++i) {
    for (std::int64_t j = 0; j < size.n; ++j) {
      double sum = accumulate ? before[i * c_stride + j] : 0;
      for (std::int64_t p = 0; p < size.k; ++p)
        sum += double{a[transposed ? p * a_stride + i : i * a_stride + p]} * b[p * size.n + j];
      want.push_back(sum);
      inside.push_back(c[i * c_stride + j]);
    }
    EXPECT_EQ(std::memcmp(&c[i * c_stride + size.n], &before[i * c_stride + size.n], 5 * sizeof(T)),
              0)
        << "wrote beyond row " << i;
  }
  EXPECT_TRUE(close(inside, want, kLimit<T>));
}

template <class T, class Fn>
void check_all(const Fn& multiply, bool builtin) {
  for (const Size& size : kSizes)
    for (bool transposed : {false, true})
      for (bool accumulate : {false, true})
        check<T>(size, transposed, accumulate, multiply, builtin);
}

TEST(GemmTest, EqualsTheDefinition) {
  prepare_gemm();
  check_all<float>(gemm<float>, false);
  check_all<double>(gemm<double>, false);
}

TEST(GemmTest, BaselineCopyEqualsTheDefinition) {
  check_all<float>(Multiply{gemm_baseline}, true);
  check_all<double>(MultiplyDouble{gemm_baseline}, true);
}

#ifdef ARENAGRAD_X86
TEST(GemmTest, Avx2CopyEqualsTheDefinition) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "this machine has no AVX2";
  check_all<float>(Multiply{gemm_avx2}, true);
  check_all<double>(MultiplyDouble{gemm_avx2}, true);
}

TEST(GemmTest, Avx512CopyEqualsTheDefinition) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw"))
    GTEST_SKIP() << "this machine has no AVX-512";
  check_all<float>(Multiply{gemm_avx512}, true);
  check_all<double>(MultiplyDouble{gemm_avx512}, true);
}
#endif

TEST(GemmTest, SaysWhatMultiplies) {
  const std::string text = gemm_kernel_description();
  EXPECT_TRUE(text.starts_with("built in, ") || text.starts_with("OpenBLAS ")) << text;
}

/// Every element lies where at() says, whoever packed it.
template <class T>
void check_packing(std::int64_t k, std::int64_t n) {
  Aligned<T> memory(panel_elements<T>(k, n)), turned_memory(panel_elements<T>(k, n));
  const std::vector<T> b = values<T>(k * n, 4);
  std::vector<T> transposed(k * (n + 1) + n);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) transposed[j * (k + 1) + i] = b[i * n + j];
  const Panel<T> panel(k, n, memory.data()), turned(k, n, turned_memory.data());
  pack(panel, b.data(), n);
  const std::int64_t split = k / 3;
  pack_transposed(turned, 0, split, transposed.data(), k + 1);
  pack_transposed(turned, split, k - split, transposed.data() + split, k + 1);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_EQ(*panel.at(i, j), b[i * n + j]) << i << ", " << j;
      ASSERT_EQ(*turned.at(i, j), b[i * n + j]) << i << ", " << j;
    }
}

TEST(PanelTest, PacksPlainAndTransposed) {
  for (std::int64_t k : {1, 2, 5, 131, 260})
    for (std::int64_t n : {1, 3, 31, 32, 33, 70}) {
      check_packing<float>(k, n);
      check_packing<double>(k, n);
    }
}

TEST(PanelTest, PacksPiecesOfARow) {
  Aligned<float> memory(panel_elements<float>(3, 200));
  const Panel<float> panel(3, 200, memory.data());
  const std::vector<float> from = values<float>(200, 5);
  for (std::int64_t row : {0, 1, 2})
    for (std::int64_t first = 0, count = 1; first < 200; first += count, count += 17) {
      if (first + count > 200) count = 200 - first;
      pack_row(panel, row, first, count, from.data() + first);
    }
  for (std::int64_t column = 0; column < 200; ++column)
    ASSERT_EQ(*panel.at(1, column), from[column]) << column;
  pack_zeros(panel, 1, 5, 39, 5);
  for (std::int64_t column = 0; column < 200; ++column) {
    const bool cleared = column >= 5 && column <= 161 && (column - 5) % 39 == 0;
    ASSERT_EQ(*panel.at(1, column), cleared ? 0 : from[column]) << column;
    ASSERT_EQ(*panel.at(2, column), from[column]) << column;
  }
}

}  // namespace
}  // namespace arenagrad::cpu
