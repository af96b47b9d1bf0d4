// Scratch of the shared bodies: the same on every device, known when a layer declares.
#pragma once

#include <cstddef>

#include "kernels/problems.h"

namespace arenagrad {

/// Bytes of forward's scratch; backward needs none.
constexpr std::size_t softmax_cross_entropy_workspace(const SoftmaxCrossEntropyProblem& problem) {
  return 2 * static_cast<std::size_t>(problem.batch) * sizeof(double);
}

}  // namespace arenagrad
