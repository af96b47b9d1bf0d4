// Emits the forward and backward pass of one micro-batch. Internal to the planner.
#pragma once

#include <cstdint>
#include <memory>
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

/// A forward pass over a stretch that has been emitted: what its backward finds. Buffers by
/// storage; kNoBuffer for what is not live.
struct RecordedForward {
  const StorageMap* map;
  MicroBatch micro;
  std::vector<BufferId> buffers;
};

/// What stretches lend to one another, by TensorId.
using Lent = std::vector<BufferId>;

/// Everything the passes share: the tape, the gradients of parameters of the section at work.
struct StepContext {
  const Tape& tape;
  const PlanOptions& options;
  const Profile& profile;
  const GradientNeeds& wants;
  Emitter& emit;
};

/// Feeds the inputs, runs every node of the map's stretch, frees what nobody needs any more. Takes
/// what it borrows from `lent` and puts what leaves it there; its escapes are the caller's to free.
RecordedForward emit_forward(const StepContext& context, const StorageMap& map, MicroBatch micro,
                             bool calibrates, Lent& lent);

/// The backward of one micro-batch, stretch by stretch, the last one first.
class Backward {
 public:
  Backward(const StepContext& context, MicroBatch micro);
  ~Backward();

  /// Runs backward over a recorded stretch and frees all that it kept. Parameter gradients are born
  /// in section.gradients at their first write and added to after that.
  void run(RecordedForward& forward);

  /// The gradient of a tensor that the stretches before find: this micro-batch's rows of `whole`.
  void begin_with(TensorId tensor, BufferId whole);
  /// Hands the gradient of a tensor that no stretch has run backward over to the caller.
  BufferId take(TensorId tensor);

  /// When all stretches have run: gradients of samples stay for their reader, to the end of the
  /// step, or of the micro-step where the step has many.
  void finish();

 private:
  class Emitter;
  std::unique_ptr<Emitter> emitter_;
};

/// What both passes of a node read beside its tensors: its parameters and its state.
void add_persistent_operands(const Program& program, const TapeNode& node, bool writes_state,
                             std::vector<Operand>& operands);

/// Buffers common to both passes.
Buffer workspace_buffer(std::size_t bytes, NodeId node, Phase phase, std::int32_t micro);

}  // namespace arenagrad
