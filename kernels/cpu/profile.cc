#include "kernels/profile.h"

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/linear.h"

namespace arenagrad {

namespace {

class CpuPlanner final : public KernelPlanner {
 public:
  ConvChoice convolution(const ConvProblem& problem, ConvPass pass, Write) const override {
    return {0, cpu::conv_workspace(problem, pass)};
  }
  std::size_t linear_workspace(const LinearProblem& problem, ConvPass pass) const override {
    return cpu::linear_workspace(problem, pass);
  }
  std::size_t batch_norm_workspace(const BatchNormProblem& problem, bool backward) const override {
    return cpu::batch_norm_workspace(problem, backward);
  }
};

const CpuPlanner kPlanner;

}  // namespace

Profile cpu_profile() {
  Profile profile;
  profile.name = "cpu";
  profile.kernels = &kPlanner;
  return profile;
}

}  // namespace arenagrad
