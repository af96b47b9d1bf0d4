// Scratch of the shared bodies: the same on every device, known when a layer declares.
#pragma once

#include <cstddef>

#include "kernels/problems.h"

namespace arenagrad {

/// Bytes of forward's scratch; backward needs none.
constexpr std::size_t softmax_cross_entropy_workspace(const SoftmaxCrossEntropyProblem& problem) {
  return 2 * static_cast<std::size_t>(problem.batch) * sizeof(double);
}

/// Bytes of forward's scratch; backward needs none.
constexpr std::size_t coupled_loss_workspace(const CoupledLossProblem& problem) {
  const auto classes = static_cast<std::size_t>(problem.classes);
  switch (problem.kind) {
    case CoupledLoss::cross_entropy_of_mean_logits: return 2 * classes * sizeof(double);
    case CoupledLoss::variance: return classes * sizeof(double);
    case CoupledLoss::contrastive: return static_cast<std::size_t>(problem.batch) * sizeof(double);
  }
  return 0;
}

}  // namespace arenagrad
