// The checks of gpu_check, each one line of its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/settings.h"
#include "kernels/cudnn/convolution.h"
#include "tests/cuda/gpu_check/answers.h"
#include "tests/cuda/gpu_check/report.h"
#include "zoo/device_profile.h"

namespace arenagrad::cuda_test {

/// Layouts in which engines are planned, and steps computed and timed.
inline constexpr Layout kLayouts[] = {Layout::nchw, Layout::nhwc};

/// What the GPU says of itself, and where the profile (null: there is none) says otherwise.
/// `properties`, as cuDNN describes the GPU, is filled.
Verdict check_properties(const DeviceProfile* profile, std::string& properties, Json& details);

/// What a plan is made from: a name for the report, and the JSON that cuDNN is told.
struct PlannedFrom {
  std::string name;
  std::string properties;
  bool is_the_gpu;  // then all engines are built on it as well, and their workspaces compared
};

/// The engine and workspace of every convolution of a model's training, forward and backward, with
/// and without adding to what is there, are those that the GPU itself would take.
Verdict check_engines(const char* model, std::int64_t batch, Layout layout, const PlannedFrom& from,
                      DeviceAnswers& device, Json& details);

/// What is in use at the end of each step from the second on is the arena and the context, no byte
/// more or less; all in bytes. False for fewer than three steps, which show nothing constant.
bool is_arena_and_context(const std::vector<std::size_t>& in_use_by_step, std::size_t reserved,
                          std::size_t context);

/// In one gradient mode and with both kinds of arena: ledgers, gradients against the processor's in
/// f64, the GPU's memory step by step.
Verdict check_training(const char* model, const Batching& batching, GradientMode mode,
                       Json& details);

/// Times training steps; `pytorch` holds PyTorch's results for the same, or null.
Verdict check_time(const char* model, std::int64_t batch, Layout layout, const Json& pytorch,
                   Json& details);

}  // namespace arenagrad::cuda_test
