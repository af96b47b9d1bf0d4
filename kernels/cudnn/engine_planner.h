// Plans a GPU's kernels: which cuDNN engine each convolution takes, and how much scratch all of
// them need. Every distinct problem is asked once; answers can be taken out, kept and put back in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cudnn/engine_source.h"
#include "kernels/profile.h"

namespace arenagrad::cudnn {

/// Finds cuDNN. Throws DeviceError.
using OpenSource = std::function<std::unique_ptr<EngineSource>()>;

/// A KernelPlanner of the CUDA backend. Programs name engines by their place in its table, which
/// only grows: it outlives the programs planned with it and the backend that runs them.
class EnginePlanner final : public KernelPlanner {
 public:
  struct Options {
    EnginePolicy policy;
    Layout layout = Layout::nchw;
    std::size_t alignment = 256;  // bytes, of every buffer of the arena
  };
  /// `open` is called when there is a first question to ask. When it throws DeviceError, or the
  /// source does later, only known answers are at hand from then on: a problem beyond them is
  /// planned without workspace and counted as unknown.
  EnginePlanner(const Options& options, OpenSource open);

  /// Throws DeviceError when no engine is acceptable.
  ConvChoice convolution(const ConvProblem& problem, ConvPass pass, Write write) const override;
  /// 0: cuBLAS has its workspace for good.
  std::size_t linear_workspace(const LinearProblem& problem, ConvPass pass) const override;
  /// cuDNN writes all gradients at once: backward has room for those that nobody wants.
  std::size_t batch_norm_workspace(const BatchNormProblem& problem, bool backward) const override;
  /// What cuDNN's tensor descriptors take, whose strides are 32 bits.
  std::int64_t most_batch_norm_elements() const override {
    return std::numeric_limits<std::int32_t>::max();
  }
  bool complete() const override { return unknown_.empty(); }

  /// What a program's engine number means. ContractError for one that was never handed out.
  const PinnedEngines& pinned(std::int64_t engine) const;
  const std::vector<PinnedEngines>& table() const { return table_; }

  const Options& options() const { return options_; }
  const EngineAnswers& answers() const { return answers_; }
  /// Answers from elsewhere, which are not asked again. Of the same device, version and policy.
  void know(const EngineAnswers& answers);
  /// Problems for which there was neither an answer nor a source; why there is none.
  const std::set<ConvKey>& unknown() const { return unknown_; }
  const std::string& why_unknown() const { return why_unknown_; }
  /// Both in a line; empty when nothing is unknown.
  std::string missing_workspace() const;
  /// Every engine that could do the problem; empty without a source.
  std::vector<Engine> candidates(const ConvKey& key) const;
  /// Of the cuDNN that was asked; 0 when none was.
  std::size_t version() const { return version_; }
  /// Questions put to the source so far.
  std::size_t asked() const { return asked_; }

 private:
  /// Null: nobody knows.
  const EngineAnswer* answer(const ConvKey& key) const;
  /// Calls `question` with the source, which is opened if need be; false where there is none.
  template <class Question>
  bool ask(Question question) const;

  Options options_;
  // A planner is asked through a const profile; answers don't change what it says.
  mutable EngineAnswers answers_;
  mutable std::map<ConvKey, std::int64_t> place_;  // in table_
  mutable std::vector<PinnedEngines> table_;
  mutable std::set<ConvKey> unknown_;
  mutable std::string why_unknown_;
  mutable std::size_t asked_ = 0, version_ = 0;
  mutable OpenSource open_;  // null once it was called
  mutable std::unique_ptr<EngineSource> source_;
};

/// Profile of a CUDA device, the part that is the same for all: alignment, granule, mask, library
/// workspace. Name, capacity and kernels are the caller's.
Profile cuda_profile(int compute_major);

}  // namespace arenagrad::cudnn
