// Compiled once per instruction set, with contraction to fused multiply-adds allowed. The build
// defines ARENAGRAD_GEMM (the copy's name), ARENAGRAD_VECTOR_BYTES and ARENAGRAD_BLOCK_ROWS: a
// block of c, that many rows by two vectors, lives in registers while k runs.
//
// No inline function from elsewhere is called here: the linker keeps one copy of those for the
// whole program, and must not keep this one.
//
// The rows of a that a block needs stay in the L1 cache while the strips pass by; the panel is
// meant to stay in the L2 cache.
#include "kernels/cpu/gemm_kernels.h"

#include <cstring>

namespace arenagrad::cpu {

namespace {

constexpr int kBlockRows = ARENAGRAD_BLOCK_ROWS;

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(ARENAGRAD_VECTOR_BYTES)));
  static constexpr std::int64_t kLength = ARENAGRAD_VECTOR_BYTES / sizeof(T);
};

template <class T>
typename VectorOf<T>::Type load(const T* from) {
  typename VectorOf<T>::Type value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// One block: `rows` rows by `vectors` vectors; b's rows are `width` apart.
template <int rows, int vectors, class T>
void block(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_column, const T* b,
           std::int64_t width, T* c, std::int64_t c_stride, bool accumulate) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::int64_t kLength = VectorOf<T>::kLength;
  Vector sums[rows][vectors] = {};
  const T* row[rows];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) row[i] = a + i * a_row;
  for (std::int64_t p = 0; p < k; ++p, b += width) {
    Vector right[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) right[j] = load(b + j * kLength);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const T left = row[i][p * a_column];
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sums[i][j] += left * right[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      T* to = c + i * c_stride + j * kLength;
      if (accumulate) sums[i][j] += load(to);
      std::memcpy(to, &sums[i][j], sizeof(Vector));
    }
}

/// A block whose columns c has only in part: computed aside.
template <int rows, int vectors, class T>
void partial_block(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_column,
                   const T* b, std::int64_t width, T* c, std::int64_t c_stride, bool accumulate,
                   std::int64_t columns) {
  constexpr std::int64_t kColumns = vectors * VectorOf<T>::kLength;
  alignas(64) T aside[rows * kColumns];
  block<rows, vectors>(k, a, a_row, a_column, b, width, aside, kColumns, false);
  for (int i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      T& to = c[i * c_stride + j];
      to = accumulate ? to + aside[i * kColumns + j] : aside[i * kColumns + j];
    }
}

/// `rows` rows of c.
template <int rows, class T>
void block_rows(const Product<T>& product, const Panel<T>& panel, std::int64_t row) {
  constexpr std::int64_t kLength = VectorOf<T>::kLength;
  static_assert(kStrip<T> % (2 * kLength) == 0);
  const T* a = product.a + row * product.a_row;
  T* c = product.c + row * product.c_stride;
  const auto run = [&](auto kernel, std::int64_t column, auto... columns) {
    const T* b = panel.data + column / kStrip<T> * kStrip<T> * panel.k + column % kStrip<T>;
    kernel(panel.k, a, product.a_row, product.a_column, b, kStrip<T>, c + column, product.c_stride,
           product.accumulate, columns...);
  };
  std::int64_t column = 0;
  for (; column + 2 * kLength <= panel.n; column += 2 * kLength) run(block<rows, 2, T>, column);
  const std::int64_t left = panel.n - column;
  if (left > kLength)
    run(partial_block<rows, 2, T>, column, left);
  else if (left == kLength)
    run(block<rows, 1, T>, column);
  else if (left > 0)
    run(partial_block<rows, 1, T>, column, left);
}

/// The last rows, fewer than a block's.
template <int rows, class T>
void last_rows(const Product<T>& product, const Panel<T>& panel, std::int64_t row) {
  if constexpr (rows > 0) {
    if (product.m - row == rows)
      block_rows<rows>(product, panel, row);
    else
      last_rows<rows - 1>(product, panel, row);
  }
}

template <class T>
void multiply(const Product<T>& product, const Panel<T>& panel) {
  std::int64_t row = 0;
  for (; row + kBlockRows <= product.m; row += kBlockRows)
    block_rows<kBlockRows>(product, panel, row);
  last_rows<kBlockRows - 1>(product, panel, row);
}

}  // namespace

void ARENAGRAD_GEMM(const Product<float>& product, const Panel<float>& panel) {
  multiply(product, panel);
}
void ARENAGRAD_GEMM(const Product<double>& product, const Panel<double>& panel) {
  multiply(product, panel);
}

}  // namespace arenagrad::cpu
