// Forward: a node's output and stashes are born, then its scratch; after it the scratch dies, then
// every tensor whose last reader it was.
#include "graph/micro_step.h"

namespace arenagrad {

Buffer workspace_buffer(std::size_t bytes, NodeId node, Phase phase, std::int32_t micro) {
  return {.bytes = bytes,
          .shape = Shape{static_cast<std::int64_t>(bytes)},
          .dtype = DType::u8,
          .category = Category::workspace,
          .holds = Holds::workspace,
          .phase = phase,
          .index = static_cast<std::uint32_t>(node),
          .node = node,
          .micro = micro};
}

void add_persistent_operands(const Program& program, const TapeNode& node, bool writes_state,
                             std::vector<Operand>& operands) {
  for (std::size_t k = 0; k < node.parameters.size(); ++k) {
    operands.push_back({.role = Role::parameter,
                        .slot = static_cast<std::uint8_t>(k),
                        .buffer = program.parameters[index(node.parameters[k])]});
  }
  for (std::size_t k = 0; k < node.states.size(); ++k) {
    operands.push_back({.role = Role::state,
                        .slot = static_cast<std::uint8_t>(k),
                        .writes = writes_state,
                        .buffer = program.states[index(node.states[k])]});
  }
}

namespace {

class ForwardEmitter {
 public:
  ForwardEmitter(const StepContext& context, const StorageMap& map, MicroBatch micro,
                 bool calibrates, Lent& lent)
      : c_(context), map_(map), calibrates_(calibrates), lent_(lent), result_{&map, micro, {}} {
    result_.buffers.assign(map.storages.size(), kNoBuffer);
    phase_ = calibrates ? Phase::setup : map.kind.again ? Phase::backward : Phase::forward;
  }

  RecordedForward emit() {
    borrow();
    feed();
    for (std::size_t i = map_.kind.stretch.begin; i < map_.kind.stretch.end; ++i) {
      const TapeNode& node = c_.tape.nodes()[i];
      // Calibration wants running statistics, not a loss.
      if (!(calibrates_ && node.layer->is_loss())) run_node(NodeId{static_cast<std::uint32_t>(i)});
      for (std::uint32_t storage : map_.nodes[i].dying) free_storage(storage);
    }
    for (TensorId id : map_.leaving) {
      lent_[index(id)] = result_.buffers[map_.of_tensor[index(id)]];
    }
    return std::move(result_);
  }

 private:
  void borrow() {
    for (std::uint32_t s = 0; s < map_.storages.size(); ++s) {
      const Storage& storage = map_.storages[s];
      if (storage.borrowed) result_.buffers[s] = lent_[index(storage.first)];
    }
  }

  void free_storage(std::uint32_t storage) {
    BufferId& buffer = result_.buffers[storage];
    if (buffer == kNoBuffer) return;
    c_.emit.free(buffer);
    buffer = kNoBuffer;
  }

  Exec exec_of(Pass pass) const {
    return {.pass = pass,
            .micro = result_.micro.number,
            .first_sample = result_.micro.first_sample,
            .samples = result_.micro.samples,
            .weight = result_.micro.weight,
            .saves = map_.kind.saves,
            .updates_state = map_.kind.run == RunMode::train && !map_.kind.again,
            .calibrates = calibrates_,
            .again = map_.kind.again,
            .run = map_.kind.run};
  }

  void feed() {
    for (TensorId id : map_.fed) {
      const TapeTensor& tensor = c_.tape.tensor(id);
      const std::uint32_t storage = map_.of_tensor[index(id)];
      if (map_.storages[storage].last_reader == kNoNode) continue;  // nobody reads it
      if (calibrates_ && tensor.is_labels) continue;
      const BufferId buffer = birth_tensor(id, storage, Category::input, kNoNode);
      Exec exec = exec_of(Pass::feed);
      exec.index = static_cast<std::uint32_t>(id);
      const Operand operand{.role = Role::output, .writes = true, .buffer = buffer};
      c_.emit.exec(exec, {&operand, 1});
    }
  }

  BufferId birth_tensor(TensorId id, std::uint32_t storage, Category category, NodeId node) {
    const TapeTensor& tensor = c_.tape.tensor(id);
    const bool is_loss = node != kNoNode && c_.tape.node(node).layer->is_loss();
    result_.buffers[storage] =
        c_.emit.birth({.bytes = map_.storages[storage].bytes,
                       .shape = is_loss ? Shape{1} : tensor.shape.with_batch(map_.kind.samples),
                       .dtype = tensor.is_labels ? DType::i64 : c_.options.dtype,
                       .category = category,
                       .holds = Holds::tensor,
                       .phase = phase_,
                       .index = static_cast<std::uint32_t>(id),
                       .node = node,
                       .micro = result_.micro.number,
                       .samples = is_loss ? 0 : map_.kind.samples});
    return result_.buffers[storage];
  }

  void run_node(NodeId id) {
    const TapeNode& node = c_.tape.node(id);
    const NodeStorage& mine = map_.nodes[index(id)];
    const Needs& needs = c_.emit.program().needs[mine.needs];
    if (needs.alias) return;

    const std::uint32_t output = map_.of_tensor[index(node.output)];
    if (mine.births_output) birth_tensor(node.output, output, Category::activation, id);
    for (std::uint32_t storage : mine.born_stashes) birth_stash(id, storage, needs);

    std::vector<Operand>& operands = operands_;
    operands.clear();
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      operands.push_back({.role = Role::input,
                          .slot = static_cast<std::uint8_t>(k),
                          .buffer = result_.buffers[map_.of_tensor[index(node.inputs[k])]]});
    }
    operands.push_back({.role = Role::output, .writes = true, .buffer = result_.buffers[output]});
    add_persistent_operands(c_.emit.program(), node,
                            map_.kind.run == RunMode::train && !map_.kind.again, operands);
    for (std::size_t k = 0; k < mine.stashes.size(); ++k) {
      operands.push_back({.role = Role::stash,
                          .slot = static_cast<std::uint8_t>(k),
                          .writes = true,
                          .buffer = result_.buffers[mine.stashes[k]]});
    }
    BufferId workspace = kNoBuffer;
    if (needs.forward_workspace > 0) {
      workspace = c_.emit.birth(
          workspace_buffer(needs.forward_workspace, id, phase_, result_.micro.number));
      operands.push_back({.role = Role::workspace, .writes = true, .buffer = workspace});
    }

    Exec exec = exec_of(Pass::forward);
    exec.node = id;
    exec.needs = mine.needs;
    exec.saves = mine.runs_backward;
    c_.emit.exec(exec, operands);
    if (workspace != kNoBuffer) c_.emit.free(workspace);
    if (node.layer->is_loss()) {
      Exec read = exec_of(Pass::read_loss);
      read.node = id;
      const Operand operand{.role = Role::output, .buffer = result_.buffers[output]};
      c_.emit.exec(read, {&operand, 1});
    }
  }

  void birth_stash(NodeId id, std::uint32_t storage, const Needs& needs) {
    const Storage& s = map_.storages[storage];
    const StashSpec& spec = needs.stashes[s.stash_slot];
    result_.buffers[storage] = c_.emit.birth({.bytes = s.bytes,
                                              .shape = spec.shape,
                                              .dtype = spec.dtype,
                                              .category = Category::stash,
                                              .holds = Holds::stash,
                                              .phase = phase_,
                                              .slot = s.stash_slot,
                                              .index = static_cast<std::uint32_t>(id),
                                              .node = id,
                                              .micro = result_.micro.number,
                                              .samples = spec.per_sample ? map_.kind.samples : 0});
  }

  const StepContext& c_;
  const StorageMap& map_;
  bool calibrates_;
  Lent& lent_;
  Phase phase_;
  RecordedForward result_;
  std::vector<Operand> operands_;
};

}  // namespace

RecordedForward emit_forward(const StepContext& context, const StorageMap& map, MicroBatch micro,
                             bool calibrates, Lent& lent) {
  return ForwardEmitter(context, map, micro, calibrates, lent).emit();
}

}  // namespace arenagrad
