// Backward: nodes in reverse order of recording. A gradient's memory may serve several tensors at
// once (both inputs of an addition have the gradient of its output): each tensor holds a claim, and
// only memory with a single claim is written over or added to. So a residual fork costs no copy: by
// the time the branch adds its share to the skip's gradient, the other claim is gone.
#include <algorithm>
#include <utility>

#include "graph/micro_step.h"

namespace arenagrad {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

class Backward::Emitter {
 public:
  Emitter(const StepContext& context, MicroBatch micro) : c_(context), micro_(micro) {
    of_tensor_.assign(c_.tape.tensors().size(), kNone);
  }

  void run(RecordedForward& forward) {
    f_ = &forward;
    map_ = forward.map;
    savers_.clear();
    for (const Storage& storage : map_->storages) savers_.push_back(storage.savers);
    for (std::size_t i = map_->kind.stretch.end; i-- > map_->kind.stretch.begin;) {
      if (map_->nodes[i].runs_backward) run_node(NodeId{static_cast<std::uint32_t>(i)});
    }
  }

  void begin_with(TensorId tensor, BufferId whole) {
    const NodeId loss = c_.tape.loss();
    const std::uint32_t mine = birth(tensor, loss);
    of_tensor_[index(tensor)] = mine;
    const Operand operands[] = {
        {.role = Role::input_gradient, .writes = true, .buffer = gradients_[mine].buffer},
        {.role = Role::output_gradient, .buffer = whole}};
    Exec exec = exec_of(Pass::scatter, loss);
    exec.index = static_cast<std::uint32_t>(tensor);
    c_.emit.exec(exec, operands);
  }

  BufferId take(TensorId tensor) {
    const std::uint32_t gradient = std::exchange(of_tensor_[index(tensor)], kNone);
    check_contract(gradient != kNone && gradients_[gradient].claims == 1,
                   "a gradient to be taken that is not there");
    return gradients_[gradient].buffer;
  }

  void finish() {
    for (TensorId tensor : c_.tape.inputs()) {
      const std::uint32_t gradient = of_tensor_[index(tensor)];
      if (gradient == kNone) continue;
      c_.emit.section().input_gradients.push_back(gradients_[gradient].buffer);
      if (steps_alone(c_.options.mode)) release(gradient);
    }
  }

 private:
  struct Gradient {
    BufferId buffer;
    std::size_t bytes;
    int claims;
  };

  // --- claims ------------------------------------------------------------------------------------
  std::uint32_t birth(TensorId tensor, NodeId node, Holds holds = Holds::tensor_gradient) {
    const Shape shape = c_.tape.tensor(tensor).shape.with_batch(micro_.samples);
    const Buffer buffer{.bytes = checked_bytes(shape, c_.options.dtype),
                        .shape = shape,
                        .dtype = c_.options.dtype,
                        .category = Category::activation_gradient,
                        .holds = holds,
                        .phase = Phase::backward,
                        .index = holds == Holds::temporary ? static_cast<std::uint32_t>(node)
                                                           : static_cast<std::uint32_t>(tensor),
                        .node = node,
                        .micro = micro_.number,
                        .samples = micro_.samples};
    gradients_.push_back({c_.emit.birth(buffer), buffer.bytes, 1});
    return static_cast<std::uint32_t>(gradients_.size() - 1);
  }

  void release(std::uint32_t gradient) {
    if (--gradients_[gradient].claims == 0) c_.emit.free(gradients_[gradient].buffer);
  }

  // --- sums --------------------------------------------------------------------------------------
  Exec exec_of(Pass pass, NodeId node) const {
    return {.pass = pass,
            .node = node,
            .micro = micro_.number,
            .first_sample = micro_.first_sample,
            .samples = micro_.samples,
            .weight = micro_.weight,
            .run = c_.options.run};
  }

  /// to += from
  void emit_add(BufferId to, BufferId from, NodeId node) {
    const Operand operands[] = {{.role = Role::input_gradient,
                                 .slot = 0,
                                 .writes = true,
                                 .write = Write::accumulate,
                                 .buffer = to},
                                {.role = Role::output_gradient, .slot = 1, .buffer = from}};
    c_.emit.exec(exec_of(Pass::add_gradient, node), operands);
  }

  /// A fresh gradient of `tensor`: a + b.
  std::uint32_t emit_sum(TensorId tensor, std::uint32_t a, std::uint32_t b, NodeId node) {
    const std::uint32_t sum = birth(tensor, node);
    const Operand operands[] = {
        {.role = Role::input_gradient, .slot = 0, .writes = true, .buffer = gradients_[sum].buffer},
        {.role = Role::output_gradient, .slot = 1, .buffer = gradients_[a].buffer},
        {.role = Role::output_gradient, .slot = 2, .buffer = gradients_[b].buffer}};
    c_.emit.exec(exec_of(Pass::sum_gradients, node), operands);
    return sum;
  }

  // --- nodes -------------------------------------------------------------------------------------
  void run_node(NodeId id) {
    const TapeNode& node = c_.tape.node(id);
    const Needs& needs = c_.emit.program().needs[map_->nodes[index(id)].needs];
    const std::uint32_t from = of_tensor_[index(node.output)];
    of_tensor_[index(node.output)] = kNone;
    check_contract(node.layer->is_loss() || from != kNone, "a node in backward has no gradient");
    if (needs.alias || needs.gradient_passes_through) {
      pass_through(node, id, from);
    } else {
      run_layer(node, id, needs, from);
    }
    for (std::uint32_t storage : map_->nodes[index(id)].saved) {
      if (--savers_[storage] == 0 && !map_->storages[storage].borrowed) {
        c_.emit.free(f_->buffers[storage]);
        f_->buffers[storage] = kNoBuffer;
      }
    }
  }

  bool wanted(TensorId tensor) const { return c_.wants.tensor[index(tensor)]; }

  /// The output's gradient is each input's share. `from` loses the output's claim.
  void pass_through(const TapeNode& node, NodeId id, std::uint32_t from) {
    std::size_t left = static_cast<std::size_t>(
        std::ranges::count_if(node.inputs, [&](TensorId tensor) { return wanted(tensor); }));
    for (TensorId tensor : node.inputs) {
      if (!wanted(tensor)) continue;
      const bool last = --left == 0;
      std::uint32_t& mine = of_tensor_[index(tensor)];
      if (mine == kNone) {
        mine = from;
        ++gradients_[from].claims;
      } else if (mine != from && gradients_[mine].claims == 1) {
        emit_add(gradients_[mine].buffer, gradients_[from].buffer, id);
      } else if (mine != from && last && gradients_[from].claims == 1) {
        emit_add(gradients_[from].buffer, gradients_[mine].buffer, id);
        release(std::exchange(mine, from));
        ++gradients_[from].claims;
      } else {
        const std::uint32_t sum = emit_sum(tensor, mine, from, id);
        release(std::exchange(mine, sum));
      }
    }
    release(from);
  }

  void run_layer(const TapeNode& node, NodeId id, const Needs& needs, std::uint32_t from) {
    operands_.clear();
    after_.clear();
    add_operands(node, id, needs, from);

    bool output_claim_moved = false;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (wanted(node.inputs[k])) {
        output_claim_moved |= target_input(node, id, needs, k, from);
      }
    }
    for (std::size_t k = 0; k < node.parameters.size(); ++k) target_parameter(node, id, needs, k);

    BufferId workspace = kNoBuffer;
    if (const std::size_t bytes = workspace_bytes(needs); bytes > 0) {
      workspace = c_.emit.birth(workspace_buffer(bytes, id, Phase::backward, micro_.number));
      operands_.push_back({.role = Role::workspace, .writes = true, .buffer = workspace});
    }
    Exec exec = exec_of(Pass::backward, id);
    exec.needs = map_->nodes[index(id)].needs;
    c_.emit.exec(exec, operands_);
    if (workspace != kNoBuffer) c_.emit.free(workspace);
    for (const Sum& sum : after_) finish_sum(sum, id);
    if (from != kNone && !output_claim_moved) release(from);
  }

  /// What backward reads: saved values, parameters, state, stashes, the output's gradient.
  void add_operands(const TapeNode& node, NodeId id, const Needs& needs, std::uint32_t from) {
    const auto has = [](const std::vector<bool>& flags, std::size_t k) {
      return k < flags.size() && flags[k];
    };
    const auto storage_of = [&](TensorId tensor) {
      return f_->buffers[map_->of_tensor[index(tensor)]];
    };
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!has(needs.reads_inputs, k) && !has(needs.keeps_inputs, k)) continue;
      operands_.push_back({.role = has(needs.reads_inputs, k) ? Role::input : Role::kept,
                           .slot = static_cast<std::uint8_t>(k),
                           .buffer = storage_of(node.inputs[k])});
    }
    if (needs.reads_output) {
      operands_.push_back({.role = Role::output, .buffer = storage_of(node.output)});
    }
    add_persistent_operands(c_.emit.program(), node, false, operands_);
    const auto& stashes = map_->nodes[index(id)].stashes;
    for (std::size_t k = 0; k < stashes.size(); ++k) {
      operands_.push_back({.role = Role::stash,
                           .slot = static_cast<std::uint8_t>(k),
                           .buffer = f_->buffers[stashes[k]]});
    }
    if (from != kNone) {
      operands_.push_back({.role = Role::output_gradient, .buffer = gradients_[from].buffer});
    }
  }

  /// Once all targets are known: adding may take more than overwriting.
  std::size_t workspace_bytes(const Needs& needs) const {
    std::size_t bytes = needs.backward_workspace;
    for (const Operand& operand : operands_) {
      if (operand.write != Write::accumulate) continue;
      bytes =
          std::max(bytes, operand.role == Role::input_gradient ? needs.add_to_input_workspace
                                                               : needs.add_to_parameter_workspace);
    }
    return bytes;
  }

  void target(Role role, std::size_t slot, Write write, BufferId buffer) {
    operands_.push_back({.role = role,
                         .slot = static_cast<std::uint8_t>(slot),
                         .writes = true,
                         .write = write,
                         .buffer = buffer});
  }

  /// True when the input took over the output's gradient in place.
  bool target_input(const TapeNode& node, NodeId id, const Needs& needs, std::size_t k,
                    std::uint32_t from) {
    const TensorId tensor = node.inputs[k];
    std::uint32_t& mine = of_tensor_[index(tensor)];
    if (mine == kNone) {
      const std::size_t bytes =
          checked_bytes(c_.tape.tensor(tensor).shape.with_batch(micro_.samples), c_.options.dtype);
      if (needs.backward_in_place && k == 0 && from != kNone && gradients_[from].claims == 1 &&
          gradients_[from].bytes == bytes) {
        mine = from;
        target(Role::input_gradient, k, Write::overwrite, gradients_[from].buffer);
        return true;
      }
      mine = birth(tensor, id);
      target(Role::input_gradient, k, Write::overwrite, gradients_[mine].buffer);
    } else if (gradients_[mine].claims == 1 && needs.accumulates) {
      target(Role::input_gradient, k, Write::accumulate, gradients_[mine].buffer);
    } else {
      const std::uint32_t share = birth(tensor, id, Holds::temporary);
      target(Role::input_gradient, k, Write::overwrite, gradients_[share].buffer);
      after_.push_back({tensor, share, kNoBuffer, kNoBuffer});
    }
    return false;
  }

  void target_parameter(const TapeNode& node, NodeId id, const Needs& needs, std::size_t k) {
    const ParameterId parameter = node.parameters[k];
    BufferId& gradient = c_.emit.section().gradients[index(parameter)];
    const Shape& shape = c_.tape.parameter(parameter).shape;
    Buffer buffer{.bytes = checked_bytes(shape, c_.options.dtype),
                  .shape = shape,
                  .dtype = c_.options.dtype,
                  .category = Category::parameter_gradient,
                  .holds = Holds::parameter_gradient,
                  .phase = Phase::backward,
                  .index = static_cast<std::uint32_t>(parameter),
                  .node = id};
    if (gradient == kNoBuffer) {
      gradient = c_.emit.birth(buffer);
      target(Role::parameter_gradient, k, Write::overwrite, gradient);
    } else if (needs.accumulates) {
      target(Role::parameter_gradient, k, Write::accumulate, gradient);
    } else {
      buffer.holds = Holds::temporary;
      buffer.index = static_cast<std::uint32_t>(id);
      const BufferId share = c_.emit.birth(buffer);
      target(Role::parameter_gradient, k, Write::overwrite, share);
      after_.push_back({kNoTensor, kNone, share, gradient});
    }
  }

  /// A share written apart is added to what was there; the survivor is whichever may be written.
  struct Sum {
    TensorId tensor;      // or kNoTensor for a parameter
    std::uint32_t share;  // gradient index
    BufferId parameter_share, parameter_gradient;
  };
  void finish_sum(const Sum& sum, NodeId id) {
    if (sum.tensor == kNoTensor) {
      emit_add(sum.parameter_gradient, sum.parameter_share, id);
      c_.emit.free(sum.parameter_share);
      return;
    }
    std::uint32_t& mine = of_tensor_[index(sum.tensor)];
    if (gradients_[mine].claims == 1) {
      emit_add(gradients_[mine].buffer, gradients_[sum.share].buffer, id);
      release(sum.share);
    } else {
      emit_add(gradients_[sum.share].buffer, gradients_[mine].buffer, id);
      release(std::exchange(mine, sum.share));
    }
  }

  const StepContext& c_;
  const MicroBatch micro_;
  RecordedForward* f_ = nullptr;     // of the stretch at work
  const StorageMap* map_ = nullptr;  // likewise
  std::vector<Gradient> gradients_;
  std::vector<std::uint32_t> of_tensor_;  // gradient by TensorId
  std::vector<std::uint32_t> savers_;     // still to come, by storage
  std::vector<Operand> operands_;
  std::vector<Sum> after_;
};

Backward::Backward(const StepContext& context, MicroBatch micro)
    : emitter_(std::make_unique<Emitter>(context, micro)) {}
Backward::~Backward() = default;
void Backward::run(RecordedForward& forward) { emitter_->run(forward); }
void Backward::begin_with(TensorId tensor, BufferId whole) { emitter_->begin_with(tensor, whole); }
BufferId Backward::take(TensorId tensor) { return emitter_->take(tensor); }
void Backward::finish() { emitter_->finish(); }

}  // namespace arenagrad
