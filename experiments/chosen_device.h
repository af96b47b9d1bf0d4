// The device that a user names, as planning sees it: this machine's processor, one of its GPUs, or
// a GPU that isn't here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/no_workspace.h"
#include "kernels/cudnn/engine_planner.h"
#include "kernels/device.h"
#include "kernels/profile.h"
#include "zoo/engines_file.h"

namespace arenagrad {

struct DeviceChoice {
  std::string device = "cpu";  // cpu, cuda, cuda:1, a profile's name, a profile's file
  cudnn::EnginePolicy policy;
  Layout layout = Layout::nchw;
  std::string engines_from;                // a file with cuDNN's answers; empty: none
  std::vector<std::string> cudnn_folders;  // see load_cudnn
};

/// Outlives everything that was planned with its profile.
class ChosenDevice {
 public:
  /// Throws SpecError for a name or a file that is none, DeviceError for a GPU that isn't there,
  /// Error for answers of another device or policy.
  explicit ChosenDevice(const DeviceChoice& choice);
  ChosenDevice(const ChosenDevice&) = delete;
  ChosenDevice& operator=(const ChosenDevice&) = delete;

  const Profile& profile() const { return profile_; }
  /// The same for programs of which only the bytes are wanted, under a policy that allows no
  /// workspace: no engine is asked about, and each convolution is taken to have one. Throws
  /// ContractError under another policy and for the processor.
  Profile unasked_profile() const;
  /// Null for the processor, which has no engines to choose from.
  const cudnn::EnginePlanner* planner() const { return planner_.get(); }
  /// The number of the GPU, when it is one of this machine's.
  std::optional<int> gpu() const { return gpu_; }
  /// False for a profile: programs can be planned for it, not run.
  bool executes() const { return planner_ == nullptr || gpu_.has_value(); }

  /// The GPU, to run what was planned with the profile; null for the processor. Throws DeviceError
  /// where it can't be used; ContractError for a profile.
  std::unique_ptr<Device> open() const;

  /// Why workspace is missing in what was planned so far, in a line; empty when none is.
  std::string missing_workspace() const;
  /// All answers so far. Throws Error where there are none to keep.
  EnginesFile answers() const;

 private:
  void plan_for(const DeviceChoice& choice, int compute_major, cudnn::OpenSource open);
  void read_answers(const DeviceChoice& choice);

  Profile profile_;
  std::unique_ptr<cudnn::EnginePlanner> planner_;
  std::unique_ptr<NoWorkspace> unasked_;
  std::optional<int> gpu_;
  bool allow_tf32_ = false;
  std::string properties_;         // their hash
  std::size_t known_version_ = 0;  // of the cuDNN whose answers were read
};

/// "9.19.0" for 91900.
std::string cudnn_version_text(std::size_t version);

}  // namespace arenagrad
