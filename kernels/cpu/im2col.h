// A convolution as a matrix product: im2col unrolls an image so that column p of the matrix holds
// the values that output pixel p reads. Row (channel, kernel row, kernel column), row-major, like a
// filter's weights. Only the piece that is asked for is written.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm.h"
#include "kernels/problems.h"

namespace arenagrad::cpu {

/// The geometry alone; channels are those of one group.
struct Unroll {
  std::int64_t in_h, in_w, kernel_h, kernel_w, stride_h, stride_w;
  std::int64_t pad_h, pad_w;  // may be negative: then the image's border is not read
  std::int64_t dilation_h, dilation_w, out_h, out_w;

  explicit Unroll(const ConvProblem& p)
      : in_h(p.in_h),
        in_w(p.in_w),
        kernel_h(p.kernel_h),
        kernel_w(p.kernel_w),
        stride_h(p.stride_h),
        stride_w(p.stride_w),
        pad_h(p.pad_h),
        pad_w(p.pad_w),
        dilation_h(p.dilation_h),
        dilation_w(p.dilation_w),
        out_h(p.out_h),
        out_w(p.out_w) {}

  std::int64_t kernel() const { return kernel_h * kernel_w; }
  std::int64_t in_plane() const { return in_h * in_w; }
  std::int64_t out_plane() const { return out_h * out_w; }
  /// The unrolled image is the image: 1x1, stride 1, no padding.
  bool identity() const {
    return kernel() == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0;
  }
};

/// A rectangle of the unrolled matrix: rows [row, row + rows), whole output lines [line, line +
/// lines).
struct UnrollPiece {
  std::int64_t row, rows, line, lines;
};

/// Several images side by side; `first` is the plane of the first channel of the first image.
template <class T>
struct Images {
  const T* first;
  std::int64_t count;
  std::int64_t stride;  // elements from image to image
};

/// Writes rows [0, piece.rows) of the panel, padding too: images.count * piece.lines * out_w
/// columns.
template <class T>
void im2col(const Unroll& unroll, const UnrollPiece& piece, const Images<T>& images,
            const Panel<T>& panel);

/// The transpose: adds each value of a row-major matrix to the place of the image that it was read
/// from.
template <class T>
void col2im_add(const Unroll& unroll, const UnrollPiece& piece, const T* column,
                std::int64_t stride, T* image);

}  // namespace arenagrad::cpu
