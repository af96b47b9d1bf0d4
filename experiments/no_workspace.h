// Planning under --workspace none without asking anybody for engines.
#pragma once

#include "kernels/profile.h"

namespace arenagrad {

/// Takes for granted that each convolution has an engine that needs no workspace, one that writes
/// and one that adds; whether there are is for the device's own planner to say, which decides about
/// everything else here too. Its programs can be run dry only.
class NoWorkspace final : public KernelPlanner {
 public:
  /// `device` outlives it.
  explicit NoWorkspace(const KernelPlanner& device) : device_(device) {}

  ConvChoice convolution(const ConvProblem&, ConvPass, Write) const override { return {0, 0}; }
  std::size_t linear_workspace(const LinearProblem& problem, ConvPass pass) const override {
    return device_.linear_workspace(problem, pass);
  }
  std::size_t batch_norm_workspace(const BatchNormProblem& problem, bool backward) const override {
    return device_.batch_norm_workspace(problem, backward);
  }
  std::int64_t most_batch_norm_elements() const override {
    return device_.most_batch_norm_elements();
  }

 private:
  const KernelPlanner& device_;
};

}  // namespace arenagrad
