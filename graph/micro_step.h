// Emits the forward and backward pass of one micro-batch. Internal to the planner.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/emitter.h"
#include "graph/storage.h"

namespace arenagrad {

/// Which samples of the step.
struct MicroBatch {
  std::int32_t number;  // -1: outside a step (calibration)
  std::int64_t first_sample;
  std::int64_t samples;
  double weight;  // of its loss
};

/// A forward pass that has been emitted: what its backward finds. Buffers by storage; kNoBuffer for
/// what is not live.
struct RecordedForward {
  const StorageMap* map;
  MicroBatch micro;
  std::vector<BufferId> buffers;
};

/// Everything the passes share: the tape, the gradients of parameters of the section at work.
struct StepContext {
  const Tape& tape;
  const PlanOptions& options;
  const Profile& profile;
  const GradientNeeds& wants;
  Emitter& emit;
};

/// Feeds the inputs, runs every node, frees what nobody needs any more.
RecordedForward emit_forward(const StepContext& context, const StorageMap& map, MicroBatch micro,
                             bool calibrates);

/// Runs backward over a recorded forward and frees all that it kept. Parameter gradients are born
/// in section.gradients at their first write and added to after that.
void emit_backward(const StepContext& context, RecordedForward& forward);

/// Buffers common to both passes.
Buffer workspace_buffer(std::size_t bytes, NodeId node, Phase phase, std::int32_t micro);

}  // namespace arenagrad
