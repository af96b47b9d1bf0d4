// A convolution's gradient to its data. With stride 1 it is itself a convolution, of dy with each
// filter turned by 180 degrees and inputs and outputs swapped; otherwise the product of the
// filters, transposed, with dy gives the gradient of the unrolled image, which is folded back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/convolve.h"

namespace arenagrad::cpu {

/// Whether the gradient is taken as a convolution of dy.
bool data_gradient_convolves(const ConvProblem& problem);

template <class T>
std::size_t data_gradient_scratch(const ConvProblem& problem);

/// dx (=|+=) the gradient.
template <class T>
void data_gradient(const ConvProblem& problem, const T* dy, const T* w, T* dx, bool accumulate,
                   std::byte* scratch, int threads);

}  // namespace arenagrad::cpu
