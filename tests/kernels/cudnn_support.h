// Problems and a source of answers for tests of planning with cuDNN.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "kernels/backend.h"
#include "kernels/cudnn/child_source.h"
#include "kernels/cudnn/engine_planner.h"

namespace arenagrad::cudnn {

/// A square problem with groups 1 and dilation 1.
inline ConvProblem square(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t k,
                          std::int64_t r, std::int64_t stride, std::int64_t pad,
                          DType dtype = DType::f32) {
  const std::int64_t out = (h + 2 * pad - r) / stride + 1;
  return {.batch = n,
          .in_channels = c,
          .in_h = h,
          .in_w = h,
          .out_channels = k,
          .kernel_h = r,
          .kernel_w = r,
          .stride_h = stride,
          .stride_w = stride,
          .pad_h = pad,
          .pad_w = pad,
          .dilation_h = 1,
          .dilation_w = 1,
          .groups = 1,
          .out_h = out,
          .out_w = out,
          .dtype = dtype};
}

/// cuDNN for a device so described, or null, with the reason printed, where it isn't here.
inline std::unique_ptr<ChildSource> cudnn_or_null(const std::string& properties) {
  try {
    return std::make_unique<ChildSource>([&](std::size_t) { return properties; });
  } catch (const DeviceError& error) {
    std::printf("no cuDNN: %s\n", error.what());
    return nullptr;
  }
}

/// Answers from a function; counts questions.
class ScriptedSource final : public EngineSource {
 public:
  using Answer = std::function<EngineAnswer(const ConvKey&)>;
  ScriptedSource(Answer answer, int* questions) : answer_(std::move(answer)), asked_(questions) {}

  std::size_t version() override { return 91900; }
  EngineAnswer first(const ConvKey& key, const EnginePolicy&) override {
    ++*asked_;
    return answer_(key);
  }
  std::vector<Engine> all(const ConvKey& key) override {
    const EngineAnswer answer = answer_(key);
    return answer.engine ? std::vector{*answer.engine} : std::vector<Engine>{};
  }

 private:
  Answer answer_;
  int* asked_;
};

}  // namespace arenagrad::cudnn
