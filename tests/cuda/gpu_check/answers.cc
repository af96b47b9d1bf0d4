#include "tests/cuda/gpu_check/answers.h"

#include <algorithm>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/session.h"

namespace arenagrad::cuda_test {

AnswerComparison compare_answers(
    const cudnn::EngineAnswers& planned,
    const std::function<const cudnn::EngineAnswer&(const cudnn::ConvKey&)>& device) {
  AnswerComparison result;
  for (const auto& [key, answer] : planned) {
    const cudnn::EngineAnswer& own = device(key);
    ++result.questions;
    if (own.engine)
      result.largest_workspace = std::max(result.largest_workspace, own.engine->workspace);
    else
      ++result.without_engine;
    // Why there is none is text, which may tell of the question's form.
    if (answer.engine != own.engine) result.disagreements.push_back({key, answer, own});
  }
  return result;
}

struct DeviceAnswers::Asked {
  cudnn::EnginePolicy policy;
  cuda::Session session{0, false};
  cudnn::DirectSource source{cuda::linked_cudnn(), session.dnn()};
  cudnn::EngineAnswers answers;
};

DeviceAnswers::DeviceAnswers(const cudnn::EnginePolicy& policy)
    : asked_(new Asked{.policy = policy}) {}

DeviceAnswers::~DeviceAnswers() = default;

const cudnn::EngineAnswer& DeviceAnswers::answer(const cudnn::ConvKey& key) {
  const auto known = asked_->answers.find(key);
  if (known != asked_->answers.end()) return known->second;
  return asked_->answers.emplace(key, asked_->source.first(key, asked_->policy)).first->second;
}

}  // namespace arenagrad::cuda_test
