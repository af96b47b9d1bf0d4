// The forward and backward passes of a step in each gradient mode. Internal to the planner.
#pragma once

#include <map>
#include <vector>

#include "graph/micro_step.h"

namespace arenagrad {

class StepPlanner {
 public:
  /// Appends to `program.needs` and its buffers. Throws Error for options that make no sense.
  StepPlanner(const Tape& tape, const Profile& profile, const PlanOptions& options,
              Program& program);

  /// All up to the end of backward.
  void emit(Emitter& emit);
  /// One train-mode forward over the first micro-batch, for running statistics.
  void emit_calibration(Emitter& emit);
  /// Fills `program.needs_of_node` and `coupled`.
  void note_needs();

  bool differentiates() const { return options_.run != RunMode::no_grad; }

 private:
  /// A micro-batch's forward, stretch by stretch.
  struct Recorded {
    MicroBatch micro;
    std::vector<RecordedForward> stretches;
    Lent lent;
    std::vector<std::vector<BufferId>> lending, kept_inputs;  // by stretch: to be freed
  };
  /// The loss over the outputs of all micro-batches.
  struct Head {
    BufferId gathered = kNoBuffer, gradient = kNoBuffer;
  };

  MicroBatch micro(std::int64_t k) const;
  MicroBatch whole_batch() const { return {-1, 0, options_.batching.batch, 1.0}; }
  StepContext context(Emitter& emit) const { return {tape_, options_, profile_, wants_, emit}; }
  const StorageMap& map(const ForwardKind& kind);
  /// How the stretch `p` of `body_` runs in front of backward.
  ForwardKind kind_of(std::size_t p, std::int64_t samples) const;
  /// How it runs once more inside backward.
  ForwardKind again(std::size_t p, std::int64_t samples) const;
  /// The loss alone, over the whole batch.
  ForwardKind head() const;
  Lent nothing_lent() const { return Lent(tape_.tensors().size(), kNoBuffer); }

  Recorded forward(const StepContext& context, const MicroBatch& m);
  void backward(const StepContext& context, Recorded& recorded, BufferId head_gradient);
  void micro_step(const StepContext& context, const MicroBatch& m, BufferId head_gradient);
  template <class Body>
  void for_each_micro(Emitter& emit, bool first_is_special, const Body& body);

  void accumulated_graph(const StepContext& context);
  void two_pass(const StepContext& context);
  Head gather_begin(const StepContext& context);
  void gather(const StepContext& context, const MicroBatch& m, BufferId from, BufferId to);
  void run_head(const StepContext& context, Head& head);

  const Tape& tape_;
  const Profile& profile_;
  const PlanOptions& options_;
  Program& program_;
  GradientNeeds wants_;
  bool mean_loss_;
  bool split_;  // the loss runs apart, over the whole batch
  TensorId outputs_;
  std::vector<Stretch> body_;
  std::map<ForwardKind, StorageMap> maps_;
};

}  // namespace arenagrad
