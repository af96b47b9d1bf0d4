// A convolution's gradient to its filters: the unrolled input times dy, transposed. So the gradient
// is summed as filter x channel, and written to dw as channel x filter at the end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/im2col.h"
#include "kernels/cpu/scratch.h"

namespace arenagrad::cpu {

/// How the work is cut; a function of the shape alone. A large gradient is cut into tiles, each
/// summed over the whole batch in one order. A small one could not employ the lanes so: there each
/// lane sums a fixed part of the batch, and the lanes' sums are added in their order.
struct FilterCut {
  explicit FilterCut(const ConvProblem& problem);

  Unroll unroll;
  std::int64_t batch, groups, channels, filter;  // channels and filter size of one group
  bool summed_by_lanes;
  Pieces rows, columns;  // tiles of one group's gradient: rows of the filter, columns are channels
  bool gathered;         // a step holds whole images, more than one
  Pieces images, lines;  // steps of the sum

  std::int64_t pixels() const { return images.piece * lines.piece * unroll.out_w; }
  std::int64_t elements() const { return groups * channels * filter; }
  /// The input is read where it is.
  bool direct() const { return unroll.identity() && !gathered; }
};

template <class T>
std::size_t filter_gradient_scratch(const FilterCut& cut);

/// dw (=|+=) the gradient.
template <class T>
void filter_gradient(const FilterCut& cut, const T* x, const T* dy, T* dw, bool accumulate,
                     std::byte* scratch, int threads);

}  // namespace arenagrad::cpu
