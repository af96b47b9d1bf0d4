// cuDNN's answers for a plan held against its answers for the GPU itself.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cudnn/engine_source.h"

namespace arenagrad::cuda_test {

/// A question that is answered differently: another engine, knob, note or workspace.
struct Disagreement {
  cudnn::ConvKey key;
  cudnn::EngineAnswer planned, device;
};

struct AnswerComparison {
  std::size_t questions = 0;
  std::size_t without_engine = 0;     // of them: nothing can do it under the policy
  std::size_t largest_workspace = 0;  // bytes, as the device answers
  std::vector<Disagreement> disagreements;
};

AnswerComparison compare_answers(
    const cudnn::EngineAnswers& planned,
    const std::function<const cudnn::EngineAnswer&(const cudnn::ConvKey&)>& device);

/// Answers of GPU 0, asked through a handle and not from a description. Each question is asked
/// once.
class DeviceAnswers {
 public:
  /// Throws DeviceError.
  explicit DeviceAnswers(const cudnn::EnginePolicy& policy);
  ~DeviceAnswers();

  const cudnn::EngineAnswer& answer(const cudnn::ConvKey& key);

 private:
  struct Asked;
  std::unique_ptr<Asked> asked_;
};

}  // namespace arenagrad::cuda_test
