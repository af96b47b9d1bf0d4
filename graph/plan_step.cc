#include "graph/plan_step.h"

#include "graph/stretches.h"

namespace arenagrad {
namespace {

bool splits(const Tape& tape, const PlanOptions& options) {
  if (options.mode == GradientMode::two_pass) return true;
  return options.mode == GradientMode::accumulated_graph && options.batching.count() > 1 &&
         tape.node(tape.loss()).layer->couples_samples();
}

}  // namespace

StepPlanner::StepPlanner(const Tape& tape, const Profile& profile, const PlanOptions& options,
                         Program& program)
    : tape_(tape),
      profile_(profile),
      options_(options),
      program_(program),
      wants_(gradient_needs(tape, options)),
      mean_loss_(tape.node(tape.loss()).layer->loss_is_mean()),
      split_(splits(tape, options)),
      outputs_(tape.node(tape.loss()).inputs[0]) {
  const auto count = static_cast<std::uint32_t>(tape.nodes().size());
  check_contract(index(tape.loss()) + 1 == count, "a loss that is not the last node");
  const std::uint32_t end = split_ ? count - 1 : count;
  body_ =
      differentiates() ? stretches(tape, options.recompute, end) : std::vector<Stretch>{{0, end}};
}

MicroBatch StepPlanner::micro(std::int64_t k) const {
  const Batching& b = options_.batching;
  if (options_.mode == GradientMode::full_batch) return {0, 0, b.batch, 1.0};
  const std::int64_t n = b.samples(k);
  return {static_cast<std::int32_t>(k), k * b.micro_batch, n,
          mean_loss_ ? static_cast<double>(n) / static_cast<double>(b.batch) : 1.0};
}

/// Planned once for each kind, used by every micro-batch alike.
const StorageMap& StepPlanner::map(const ForwardKind& kind) {
  auto found = maps_.find(kind);
  if (found == maps_.end()) {
    found =
        maps_.emplace(kind, map_storage(tape_, profile_, options_, wants_, kind, program_.needs))
            .first;
  }
  return found->second;
}

ForwardKind StepPlanner::kind_of(std::size_t p, std::int64_t samples) const {
  const bool last = p + 1 == body_.size();
  return {.stretch = body_[p],
          .samples = samples,
          .run = options_.run,
          .saves = differentiates() && last,
          .lends = !last || (split_ && !steps_alone(options_.mode)),
          .keeps_fed = !last};
}

ForwardKind StepPlanner::again(std::size_t p, std::int64_t samples) const {
  return {
      .stretch = body_[p], .samples = samples, .run = options_.run, .saves = true, .again = true};
}

ForwardKind StepPlanner::head() const {
  const auto loss = static_cast<std::uint32_t>(tape_.loss());
  return {.stretch = {loss, loss + 1},
          .samples = options_.batching.batch,
          .run = options_.run,
          .saves = differentiates()};
}

StepPlanner::Recorded StepPlanner::forward(const StepContext& context, const MicroBatch& m) {
  Recorded recorded{m, {}, nothing_lent(), {}, {}};
  for (std::size_t p = 0; p < body_.size(); ++p) {
    const StorageMap& map = this->map(kind_of(p, m.samples));
    recorded.stretches.push_back(emit_forward(context, map, m, false, recorded.lent));
    auto& lending = recorded.lending.emplace_back();
    auto& inputs = recorded.kept_inputs.emplace_back();
    if (p + 1 == body_.size()) continue;  // the outputs are gathered, or nothing is lent
    for (std::uint32_t s : map.escapes) {
      (is_fed(tape_, map.storages[s]) ? inputs : lending)
          .push_back(recorded.stretches.back().buffers[s]);
    }
  }
  return recorded;
}

/// The last stretch first. What one lends is done with when the next one's backward is; it will
/// make its own again.
void StepPlanner::backward(const StepContext& context, Recorded& recorded, BufferId head_gradient) {
  context.emit.mark(MarkKind::backward_begin);
  Backward backward(context, recorded.micro);
  if (head_gradient != kNoBuffer) backward.begin_with(outputs_, head_gradient);
  for (std::size_t p = body_.size(); p-- > 0;) {
    if (p + 1 == body_.size()) {
      backward.run(recorded.stretches[p]);
    } else {
      for (BufferId id : recorded.lending[p]) context.emit.free(id);
      const StorageMap& map = this->map(again(p, recorded.micro.samples));
      RecordedForward second = emit_forward(context, map, recorded.micro, false, recorded.lent);
      backward.run(second);
      for (BufferId id : recorded.kept_inputs[p]) context.emit.free(id);
    }
  }
  backward.finish();
}

void StepPlanner::micro_step(const StepContext& context, const MicroBatch& m,
                             BufferId head_gradient) {
  context.emit.mark(MarkKind::forward_begin);
  Recorded recorded = forward(context, m);
  context.emit.mark(MarkKind::forward_end);
  if (differentiates()) backward(context, recorded, head_gradient);
}

/// The first micro-step may be special (it gives birth to the gradients), the last may be smaller;
/// all others are the same and are emitted once.
template <class Body>
void StepPlanner::for_each_micro(Emitter& emit, bool first_is_special, const Body& body) {
  const std::int64_t count = options_.batching.count();
  const bool uneven = options_.batching.batch % options_.batching.micro_batch != 0 && count > 1;
  const std::int64_t first = first_is_special ? 1 : 0;
  if (first_is_special) body(micro(0));
  if (const std::int64_t rounds = count - first - (uneven ? 1 : 0); rounds > 0) {
    const std::size_t begin = emit.begin_repeat(rounds);
    body(micro(first));
    emit.end_repeat(begin);
  }
  if (uneven) body(micro(count - 1));
}

void StepPlanner::emit(Emitter& emit) {
  const StepContext context = this->context(emit);
  switch (options_.mode) {
    case GradientMode::full_batch: micro_step(context, micro(0), kNoBuffer); break;
    case GradientMode::accumulated_graph: accumulated_graph(context); break;
    case GradientMode::per_step:
      for_each_micro(emit, true, [&](const MicroBatch& m) { micro_step(context, m, kNoBuffer); });
      break;
    case GradientMode::two_pass: two_pass(context); break;
  }
}

void StepPlanner::emit_calibration(Emitter& emit) {
  const auto count = static_cast<std::uint32_t>(tape_.nodes().size());
  const std::int64_t samples = options_.batching.samples(0);
  Lent lent = nothing_lent();
  emit_forward(context(emit), map({.stretch = {0, count}, .samples = samples}),
               {-1, 0, samples, 1.0}, true, lent);
}

void StepPlanner::accumulated_graph(const StepContext& context) {
  std::vector<Recorded> recorded;
  Head head;
  if (split_) head = gather_begin(context);
  for (std::int64_t k = 0; k < options_.batching.count(); ++k) {
    context.emit.mark(MarkKind::forward_begin);
    recorded.push_back(forward(context, micro(k)));
    if (split_) {
      const RecordedForward& last = recorded.back().stretches.back();
      const std::uint32_t s = last.map->of_tensor[index(outputs_)];
      gather(context, micro(k), last.buffers[s], head.gathered);
      // Where its own backward wants it, it frees it.
      if (last.map->storages[s].savers == 0) context.emit.free(last.buffers[s]);
    }
    context.emit.mark(MarkKind::forward_end);
  }
  if (split_) run_head(context, head);
  if (!differentiates()) return;
  while (!recorded.empty()) {
    backward(context, recorded.back(), head.gradient);
    recorded.pop_back();
  }
  if (head.gradient != kNoBuffer) context.emit.free(head.gradient);
}

void StepPlanner::two_pass(const StepContext& context) {
  Head head = gather_begin(context);
  const Stretch all{0, static_cast<std::uint32_t>(tape_.nodes().size()) - 1};
  for_each_micro(context.emit, false, [&](const MicroBatch& m) {
    context.emit.mark(MarkKind::forward_begin);
    Lent lent = nothing_lent();
    const StorageMap& map = this->map(
        {.stretch = all, .samples = m.samples, .run = options_.run, .saves = false, .lends = true});
    const RecordedForward pass = emit_forward(context, map, m, false, lent);
    const BufferId outputs = pass.buffers[map.of_tensor[index(outputs_)]];
    gather(context, m, outputs, head.gathered);
    context.emit.free(outputs);
    context.emit.mark(MarkKind::forward_end);
  });
  run_head(context, head);
  if (head.gradient == kNoBuffer) return;
  for_each_micro(context.emit, true,
                 [&](const MicroBatch& m) { micro_step(context, m, head.gradient); });
  context.emit.free(head.gradient);
}

StepPlanner::Head StepPlanner::gather_begin(const StepContext& context) {
  const std::int64_t batch = options_.batching.batch;
  const Shape shape = tape_.tensor(outputs_).shape.with_batch(batch);
  Head head;
  head.gathered = context.emit.birth({.bytes = checked_bytes(shape, options_.dtype),
                                      .shape = shape,
                                      .dtype = options_.dtype,
                                      .category = Category::activation,
                                      .holds = Holds::tensor,
                                      .phase = Phase::forward,
                                      .index = static_cast<std::uint32_t>(outputs_),
                                      .node = tape_.loss(),
                                      .samples = batch});
  return head;
}

void StepPlanner::gather(const StepContext& context, const MicroBatch& m, BufferId from,
                         BufferId to) {
  const Operand operands[] = {{.role = Role::output, .writes = true, .buffer = to},
                              {.role = Role::input, .buffer = from}};
  context.emit.exec({.pass = Pass::gather,
                     .node = tape_.loss(),
                     .index = static_cast<std::uint32_t>(outputs_),
                     .micro = m.number,
                     .first_sample = m.first_sample,
                     .samples = m.samples,
                     .run = options_.run},
                    operands);
}

/// Forward and backward of the loss alone, over the whole batch.
void StepPlanner::run_head(const StepContext& context, Head& head) {
  const MicroBatch whole = whole_batch();
  Lent lent = nothing_lent();
  lent[index(outputs_)] = head.gathered;
  const StorageMap& map = this->map(this->head());
  context.emit.mark(MarkKind::forward_begin);
  RecordedForward recorded = emit_forward(context, map, whole, false, lent);
  context.emit.mark(MarkKind::forward_end);
  const bool wanted = differentiates() && wants_.tensor[index(outputs_)];
  if (wanted) {
    context.emit.mark(MarkKind::backward_begin);
    Backward backward(context, whole);
    backward.run(recorded);
    head.gradient = backward.take(outputs_);
  }
  context.emit.free(head.gathered);
}

void StepPlanner::note_needs() {
  program_.needs_of_node.assign(tape_.nodes().size(), 0);
  const auto note = [&](const StorageMap& map) {
    for (std::uint32_t i = map.kind.stretch.begin; i < map.kind.stretch.end; ++i) {
      program_.needs_of_node[i] = map.nodes[i].needs;
    }
  };
  const std::int64_t samples = micro(0).samples;
  for (std::size_t p = 0; p < body_.size(); ++p) {
    note(map(p + 1 < body_.size() ? again(p, samples) : kind_of(p, samples)));
  }
  if (split_) note(map(head()));
  for (std::uint32_t i = 0; i + 1 < tape_.nodes().size(); ++i) {
    if (!program_.needs[program_.needs_of_node[i]].samples_independent) {
      program_.coupled.push_back(NodeId{i});
    }
  }
}

}  // namespace arenagrad
