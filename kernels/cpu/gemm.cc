#include "kernels/cpu/gemm.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "allocator/error.h"
#include "kernels/cpu/gemm_kernels.h"
#include "kernels/cpu/per_machine.h"

#ifdef ARENAGRAD_OPENBLAS
#include <cblas.h>
#endif

namespace arenagrad::cpu {

namespace {

#ifdef ARENAGRAD_OPENBLAS

/// One strip as wide as the matrix: OpenBLAS wants it whole.
template <class T>
std::int64_t strip_width(std::int64_t n) {
  return n;
}

blasint blas_size(std::int64_t size) {
  check_contract(size <= std::numeric_limits<blasint>::max(), "matrix beyond OpenBLAS's integers");
  return static_cast<blasint>(size);
}

template <class T, class Call>
void call_blas(const Call& call, const Product<T>& p, const Panel<T>& panel) {
  const bool transposed = p.a_column != 1;
  call(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, blas_size(p.m),
       blas_size(panel.n), blas_size(panel.k), T(1), p.a,
       std::max<blasint>(blas_size(transposed ? p.a_column : p.a_row),
                         blas_size(transposed ? p.m : panel.k)),
       panel.data, blas_size(panel.width), p.accumulate ? T(1) : T(0), p.c, blas_size(p.c_stride));
}

void multiply(const Product<float>& p, const Panel<float>& panel) {
  call_blas(cblas_sgemm, p, panel);
}
void multiply(const Product<double>& p, const Panel<double>& panel) {
  call_blas(cblas_dgemm, p, panel);
}

#else

template <class T>
std::int64_t strip_width(std::int64_t) {
  return kStrip<T>;
}

enum class Instructions { baseline, avx2, avx512 };

Instructions instructions() {
#ifdef ARENAGRAD_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::baseline;
}

template <class T>
void multiply(const Product<T>& product, const Panel<T>& panel) {
  switch (instructions()) {
#ifdef ARENAGRAD_X86
    case Instructions::avx512: return gemm_avx512(product, panel);
    case Instructions::avx2: return gemm_avx2(product, panel);
#endif
    default: return gemm_baseline(product, panel);
  }
}

#endif

/// Copies runs of 128 bytes, contiguous in `from` and `distance` bytes apart in `to`.
ARENAGRAD_PER_MACHINE void copy_strips(const char* from, char* to, std::int64_t distance,
                                       std::int64_t strips) {
  for (; strips > 0; --strips, from += 128, to += distance) std::memcpy(to, from, 128);
}

/// to[j][i] = from[i][j] for 4x4 floats or 2x2 doubles.
template <class T>
void turn_square(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) {
  typedef T Vector __attribute__((vector_size(16)));
  constexpr int kSide = 16 / sizeof(T);
  Vector in[kSide], out[kSide];
  for (int i = 0; i < kSide; ++i) std::memcpy(&in[i], from + i * from_stride, sizeof(Vector));
  if constexpr (kSide == 4) {
    const Vector low = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
    const Vector low2 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
    const Vector high = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
    const Vector high2 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
    out[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
    out[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
    out[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
  } else {
    out[0] = __builtin_shufflevector(in[0], in[1], 0, 2);
    out[1] = __builtin_shufflevector(in[0], in[1], 1, 3);
  }
  for (int i = 0; i < kSide; ++i) std::memcpy(to + i * to_stride, &out[i], sizeof(Vector));
}

}  // namespace

void prepare_gemm() {
#ifdef ARENAGRAD_OPENBLAS
  openblas_set_num_threads(1);
#endif
}

std::string gemm_kernel_description() {
#ifdef ARENAGRAD_OPENBLAS
  // The configuration begins "OpenBLAS 0.3.21 ..."; the core it names is the build's, not this
  // machine's.
  const std::string config = openblas_get_config();
  return config.substr(0, config.find(' ', config.find(' ') + 1)) + " " + openblas_get_corename();
#else
  switch (instructions()) {
    case Instructions::avx512: return "built in, AVX-512";
    case Instructions::avx2: return "built in, AVX2";
    case Instructions::baseline: break;
  }
  return "built in, baseline";
#endif
}

template <class T>
Panel<T>::Panel(std::int64_t k, std::int64_t n, T* data)
    : k(k), n(n), width(strip_width<T>(n)), data(data) {}

template <class T>
void pack_row(const Panel<T>& panel, std::int64_t row, std::int64_t first, std::int64_t count,
              const T* from) {
  T* to = panel.at(row, first);
  const std::int64_t room = panel.width - first % panel.width;  // left in this strip
  if (room < panel.width) {
    const std::int64_t head = std::min(count, room);
    std::copy_n(from, head, to);
    from += head, count -= head, to += panel.width * (panel.k - 1) + room;
  }
  if (panel.width == kStrip<T>) {
    const std::int64_t strips = count / kStrip<T>;
    copy_strips(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to),
                kStrip<T> * panel.k * sizeof(T), strips);
    from += strips * kStrip<T>, count -= strips * kStrip<T>;
    to += strips * kStrip<T> * panel.k;
  }
  if (count > 0) std::copy_n(from, count, to);
}

template <class T>
void pack_zeros(const Panel<T>& panel, std::int64_t row, std::int64_t first, std::int64_t apart,
                std::int64_t count) {
  if (count == 0) return;
  T* strip = panel.at(row, first) - first % panel.width;
  for (std::int64_t at = first % panel.width; count > 0; --count, at += apart) {
    for (; at >= panel.width; at -= panel.width) strip += panel.width * panel.k;
    strip[at] = T(0);
  }
}

template <class T>
void pack_padding(const Panel<T>& panel, std::int64_t row, std::int64_t count) {
  const std::int64_t used = panel.n % panel.width;
  if (used == 0) return;
  T* place = panel.at(row, panel.n - 1) + 1;
  for (std::int64_t i = 0; i < count; ++i, place += panel.width)
    std::fill_n(place, panel.width - used, T(0));
}

template <class T>
void pack(const Panel<T>& panel, const T* from, std::int64_t stride) {
  constexpr std::int64_t kAhead = 4, kLine = 64 / sizeof(T);  // rows lie apart: fetch them in time
  for (std::int64_t row = 0; row < panel.k; ++row) {
    if (row + kAhead < panel.k)
      for (std::int64_t i = 0; i < panel.n; i += kLine)
        __builtin_prefetch(from + (row + kAhead) * stride + i);
    pack_row(panel, row, 0, panel.n, from + row * stride);
  }
  pack_padding(panel, 0, panel.k);
}

template <class T>
void pack_transposed(const Panel<T>& panel, std::int64_t row, std::int64_t count, const T* from,
                     std::int64_t stride) {
  // Squares of two or four rows are turned in registers, 16 bytes each. Runs along a line of `from`
  // are long enough for the hardware to fetch ahead and short enough to stay in the L1 cache.
  constexpr std::int64_t kSide = 16 / sizeof(T), kRun = 128;
  for (std::int64_t top = 0; top < count; top += kRun) {
    const std::int64_t rows = std::min(kRun, count - top);
    for (std::int64_t column = 0; column < panel.n; column += kSide) {
      const T* line = from + column * stride + top;
      T* to = panel.at(row + top, column);
      const bool square = column + kSide <= panel.n && column % panel.width + kSide <= panel.width;
      std::int64_t i = 0;
      if (square)
        for (; i + kSide <= rows; i += kSide)
          turn_square(line + i, stride, to + i * panel.width, panel.width);
      for (std::int64_t j = 0; j < kSide && column + j < panel.n; ++j) {
        T* place = panel.at(row + top, column + j);
        for (std::int64_t rest = i; rest < rows; ++rest)
          place[rest * panel.width] = line[j * stride + rest];
      }
    }
  }
  pack_padding(panel, row, count);
}

template <class T>
void gemm(const Product<T>& product, const Panel<T>& panel) {
  multiply(product, panel);
}

#define ARENAGRAD_INSTANTIATE(T)                                                               \
  template struct Panel<T>;                                                                    \
  template void pack_row(const Panel<T>&, std::int64_t, std::int64_t, std::int64_t, const T*); \
  template void pack_zeros(const Panel<T>&, std::int64_t, std::int64_t, std::int64_t,          \
                           std::int64_t);                                                      \
  template void pack_padding(const Panel<T>&, std::int64_t, std::int64_t);                     \
  template void pack(const Panel<T>&, const T*, std::int64_t);                                 \
  template void pack_transposed(const Panel<T>&, std::int64_t, std::int64_t, const T*,         \
                                std::int64_t);                                                 \
  template void gemm(const Product<T>&, const Panel<T>&);
ARENAGRAD_INSTANTIATE(float)
ARENAGRAD_INSTANTIATE(double)
#undef ARENAGRAD_INSTANTIATE

}  // namespace arenagrad::cpu
