// The one GEMM function of the CPU backend. Always single-threaded, and called from lanes; it
// allocates nothing. The right operand comes packed in strips, so that whoever makes it (im2col, a
// transposition) writes it once, in the order in which it is read; the left one is read where it
// is.
#pragma once

#include <cstdint>
#include <string>

namespace arenagrad::cpu {

/// Columns of a strip: 128 bytes, two cache lines.
template <class T>
inline constexpr std::int64_t kStrip = 128 / sizeof(T);

/// Set-up, before the first gemm and before threads start.
void prepare_gemm();

/// Which code does the multiplying here, e.g. "built in, AVX-512" or "OpenBLAS 0.3.21 SkylakeX".
std::string gemm_kernel_description();

/// A k x n matrix in strips: strip s holds columns [s * width, (s + 1) * width), row after row,
/// each row `width` long in the last strip too. Begins at a multiple of 64 bytes.
template <class T>
struct Panel {
  std::int64_t k, n;
  std::int64_t width;
  T* data;

  /// In the strips that gemm wants here.
  Panel(std::int64_t k, std::int64_t n, T* data);
  /// A row-major matrix is a panel of one strip.
  Panel(std::int64_t k, std::int64_t n, std::int64_t width, T* data)
      : k(k), n(n), width(width), data(data) {}

  T* at(std::int64_t row, std::int64_t column) const {
    return data + column / width * width * k + row * width + column % width;
  }
};

/// Elements that a k x n panel takes at most, whatever multiplies.
template <class T>
constexpr std::int64_t panel_elements(std::int64_t k, std::int64_t n) {
  return k * ((n + kStrip<T> - 1) / kStrip<T> * kStrip<T>);
}

/// Writes [first, first + count) of a panel's row from contiguous values.
template <class T>
void pack_row(const Panel<T>& panel, std::int64_t row, std::int64_t first, std::int64_t count,
              const T* from);

/// Writes `count` zeros into a panel's row from column `first` on, `apart` columns from each other.
template <class T>
void pack_zeros(const Panel<T>& panel, std::int64_t row, std::int64_t first, std::int64_t apart,
                std::int64_t count);

/// Zeroes what rows [row, row + count) have beyond column n. No result depends on it, but gemm
/// multiplies it, and some machines are slow with what old memory may hold.
template <class T>
void pack_padding(const Panel<T>& panel, std::int64_t row, std::int64_t count);

/// Fills a panel, padding too, from a row-major matrix.
template <class T>
void pack(const Panel<T>& panel, const T* from, std::int64_t stride);

/// Fills rows [row, row + count), padding too, from a transposed row-major matrix of panel.n rows:
/// element (row + i, j) from from[j * stride + i].
template <class T>
void pack_transposed(const Panel<T>& panel, std::int64_t row, std::int64_t count, const T* from,
                     std::int64_t stride);

/// c[m,n] (=|+=) a[m,k] * panel, with n and k of the panel. Element (i, p) of a lies at
/// a[i * a_row + p * a_column], one of which is 1; c is row-major. Not accumulating never reads c.
template <class T>
struct Product {
  std::int64_t m;
  const T* a;
  std::int64_t a_row, a_column;
  T* c;
  std::int64_t c_stride;
  bool accumulate;
};

template <class T>
void gemm(const Product<T>& product, const Panel<T>& panel);

}  // namespace arenagrad::cpu
