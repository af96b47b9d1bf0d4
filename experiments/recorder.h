// Takes out of a run what comparisons need: the first step's gradients and branches, and the
// running statistics after it. Later steps start from parameters that may have drifted apart, so
// the first is the one at which gradients can be compared; loss curves are compared over all.
#pragma once

#include "experiments/branches.h"
#include "experiments/gradients.h"
#include "graph/execute.h"

namespace arenagrad {

class Recorder final : public Observer {
 public:
  void after_exec(const Exec& exec, std::int64_t step, RunAccess& access) override;
  void gradients_ready(std::int64_t step, const Section& section, RunAccess& access) override;
  void after_step(std::int64_t step, double loss, RunAccess& access) override;

  const HostTensors& gradients() const { return gradients_; }
  const HostTensors& states() const { return states_; }  // floating ones
  const Branches& branches() const { return branches_; }
  std::size_t bytes() const;

 private:
  HostTensors gradients_, states_;
  Branches branches_;
};

/// Bytes that a recorder will hold after a run of the program.
std::size_t recorded_bytes(const Program& program, const Tape& tape);

}  // namespace arenagrad
