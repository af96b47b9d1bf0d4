// A convolution towards its output: forward, and backward to the data where that is a convolution
// of dy with turned filters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/im2col.h"
#include "kernels/cpu/scratch.h"

namespace arenagrad::cpu {

/// How the output is cut into tiles and a tile's product into steps; a function of the shape alone.
/// A tile is some output channels of one group by some output lines of an image, or by several
/// images where they are small.
struct ConvolveCut {
  explicit ConvolveCut(const ConvProblem& problem);

  Unroll unroll;
  std::int64_t batch, groups, channels, filter;  // channels and filter size of one group
  bool gathered;                                 // a tile holds whole images, more than one
  Pieces images, lines, rows;                    // rows: of the output matrix, that is channels
  Pieces depth;                                  // steps along the filter

  std::int64_t tiles() const { return groups * rows.count * images.count * lines.count; }
  std::int64_t columns() const { return images.piece * lines.piece * unroll.out_w; }
};

/// y (=|+=) bias + x (*) filters.
template <class T>
struct Convolve {
  const T* x;
  const T* filters;  // a row of `filter` elements for each channel of each group
  std::int64_t filter_stride;
  const T* bias;  // may be null
  T* y;
  bool accumulate;
};

template <class T>
std::size_t convolve_scratch(const ConvolveCut& cut);

template <class T>
void convolve(const ConvolveCut& cut, const Convolve<T>& operands, std::byte* scratch, int threads);

}  // namespace arenagrad::cpu
