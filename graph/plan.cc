#include "graph/plan.h"

#include <map>
#include <tuple>

#include "graph/emitter.h"
#include "graph/micro_step.h"
#include "graph/storage.h"

namespace arenagrad {
namespace {

class Planner {
 public:
  Planner(const Tape& tape, const Profile& profile, const PlanOptions& options)
      : tape_(tape), profile_(profile), options_(options), wants_(gradient_needs(tape, options)) {
    program_.options = options;
    program_.alignment = profile.alignment;
    mean_loss_ = tape.node(tape.loss()).layer->loss_is_mean();
  }

  Program plan() {
    setup();
    step(program_.first_step, true);
    step(program_.step, false);
    teardown();
    note_needs();
    return std::move(program_);
  }

 private:
  // --- setup and teardown ------------------------------------------------------------------------
  void setup() {
    Emitter emit(program_, program_.setup);
    for (std::uint32_t i = 0; i < tape_.parameters().size(); ++i) {
      const TapeParameter& parameter = tape_.parameters()[i];
      program_.parameters.push_back(persistent(emit, parameter.shape, options_.dtype,
                                               Category::parameter, Holds::parameter, i));
    }
    for (std::uint32_t i = 0; i < tape_.states().size(); ++i) {
      const TapeState& state = tape_.states()[i];
      program_.states.push_back(persistent(emit, state.shape, state.dtype.value_or(options_.dtype),
                                           Category::model_state, Holds::state, i));
    }
    if (options_.calibrate && !tape_.states().empty()) {
      const StepContext context{tape_, options_, profile_, wants_, emit};
      const std::int64_t samples = options_.batching.samples(0);
      emit_forward(context, storage(samples, RunMode::train, false), {-1, 0, samples, 1.0}, true);
    }
  }

  BufferId persistent(Emitter& emit, const Shape& shape, DType dtype, Category category,
                      Holds holds, std::uint32_t index) {
    const BufferId id = emit.birth({.bytes = checked_bytes(shape, dtype),
                                    .shape = shape,
                                    .dtype = dtype,
                                    .category = category,
                                    .holds = holds,
                                    .phase = Phase::setup,
                                    .index = index});
    const Operand operand{.role = category == Category::parameter ? Role::parameter : Role::state,
                          .writes = true,
                          .buffer = id};
    emit.exec({.pass = Pass::initialise, .index = index}, {&operand, 1});
    return id;
  }

  void teardown() {
    Emitter emit(program_, program_.teardown);
    for (BufferId id : program_.optimizer_states) emit.free(id);
    for (BufferId id : program_.states) emit.free(id);
    for (BufferId id : program_.parameters) emit.free(id);
  }

  // --- a step ------------------------------------------------------------------------------------
  MicroBatch micro(std::int64_t k) const {
    const Batching& b = options_.batching;
    if (options_.mode == GradientMode::full_batch) return {0, 0, b.batch, 1.0};
    const std::int64_t n = b.samples(k);
    return {static_cast<std::int32_t>(k), k * b.micro_batch, n,
            mean_loss_ ? static_cast<double>(n) / static_cast<double>(b.batch) : 1.0};
  }

  /// One map per (samples, mode, saves): planned once, used by every micro-batch alike.
  const StorageMap& storage(std::int64_t samples, RunMode run, bool saves) {
    const auto key = std::make_tuple(samples, run, saves);
    auto found = maps_.find(key);
    if (found == maps_.end()) {
      found = maps_
                  .emplace(key, map_storage(tape_, profile_, options_, wants_, samples, run, saves,
                                            program_.needs))
                  .first;
    }
    return found->second;
  }

  bool differentiates() const { return options_.run != RunMode::no_grad; }

  RecordedForward forward(const StepContext& context, const MicroBatch& m) {
    return emit_forward(context, storage(m.samples, options_.run, differentiates()), m, false);
  }

  void step(Section& section, bool first) {
    Emitter emit(program_, section);
    const StepContext context{tape_, options_, profile_, wants_, emit};
    section.gradients.assign(tape_.parameters().size(), kNoBuffer);
    emit.mark(MarkKind::step_begin);
    switch (options_.mode) {
      case GradientMode::full_batch: micro_step(context, micro(0)); break;
      case GradientMode::accumulated_graph: accumulated_graph(context); break;
      case GradientMode::per_step: per_step(context); break;
    }
    if (differentiates()) {
      emit.mark(MarkKind::backward_end);
      update(emit, first);
    } else {
      section.gradients.clear();
    }
    emit.mark(MarkKind::step_end);
  }

  void micro_step(const StepContext& context, const MicroBatch& m) {
    RecordedForward recorded = forward(context, m);
    if (differentiates()) emit_backward(context, recorded);
  }

  void accumulated_graph(const StepContext& context) {
    std::vector<RecordedForward> recorded;
    const std::int64_t count = options_.batching.count();
    for (std::int64_t k = 0; k < count; ++k) recorded.push_back(forward(context, micro(k)));
    if (!differentiates()) return;
    while (!recorded.empty()) {
      emit_backward(context, recorded.back());
      recorded.pop_back();
    }
  }

  /// The first micro-step gives birth to the gradients, the last may be smaller; all between are
  /// the same and are emitted once.
  void per_step(const StepContext& context) {
    const std::int64_t count = options_.batching.count();
    const bool uneven = options_.batching.batch % options_.batching.micro_batch != 0 && count > 1;
    micro_step(context, micro(0));
    if (const std::int64_t rounds = count - 1 - (uneven ? 1 : 0); rounds > 0) {
      const std::size_t begin = context.emit.begin_repeat(rounds);
      micro_step(context, micro(1));
      context.emit.end_repeat(begin);
    }
    if (uneven) micro_step(context, micro(count - 1));
  }

  // --- update ------------------------------------------------------------------------------------
  void update(Emitter& emit, bool first) {
    const bool updates = options_.optimizer.kind != OptimizerSpec::Kind::none;
    if (updates) emit.mark(MarkKind::update_begin);
    Section& section = emit.section();
    std::size_t state = 0;
    for (std::uint32_t i = 0; i < tape_.parameters().size(); ++i) {
      const BufferId gradient = section.gradients[i];
      if (gradient == kNoBuffer) continue;
      if (updates) update_parameter(emit, i, gradient, first, state);
      emit.free(gradient);
    }
    if (options_.mode == GradientMode::per_step) return;  // freed with their micro-steps
    for (BufferId id : section.input_gradients) emit.free(id);
  }

  void update_parameter(Emitter& emit, std::uint32_t i, BufferId gradient, bool first,
                        std::size_t& state) {
    std::vector<Operand> operands{
        {.role = Role::parameter, .writes = true, .buffer = program_.parameters[i]},
        {.role = Role::parameter_gradient, .buffer = gradient}};
    for (int k = 0; k < options_.optimizer.states_per_parameter(); ++k, ++state) {
      if (first) program_.optimizer_states.push_back(birth_state(emit, i, k));
      operands.push_back({.role = Role::optimizer_state,
                          .slot = static_cast<std::uint8_t>(k),
                          .writes = true,
                          .buffer = program_.optimizer_states[state]});
    }
    emit.exec({.pass = Pass::update, .index = i}, operands);
  }

  BufferId birth_state(Emitter& emit, std::uint32_t i, int slot) {
    const Shape& shape = tape_.parameters()[i].shape;
    return emit.birth({.bytes = checked_bytes(shape, options_.dtype),
                       .shape = shape,
                       .dtype = options_.dtype,
                       .category = Category::optimizer_state,
                       .holds = slot == 0 ? Holds::momentum : Holds::second_moment,
                       .phase = Phase::update,
                       .index = i});
  }

  void note_needs() {
    const StorageMap& map = storage(micro(0).samples, options_.run, differentiates());
    for (std::uint32_t i = 0; i < tape_.nodes().size(); ++i) {
      program_.needs_of_node.push_back(map.nodes[i].needs);
      if (!program_.needs[map.nodes[i].needs].samples_independent) {
        program_.coupled.push_back(NodeId{i});
      }
    }
  }

  const Tape& tape_;
  const Profile& profile_;
  const PlanOptions& options_;
  GradientNeeds wants_;
  bool mean_loss_ = true;
  Program program_;
  std::map<std::tuple<std::int64_t, RunMode, bool>, StorageMap> maps_;
};

/// The program of an accumulated graph is unrolled: more than this is a mistake, not an experiment.
constexpr std::int64_t kMostRecordedForwards = 1 << 16;

void check(const PlanOptions& options) {
  const Batching& b = options.batching;
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  if (b.batch < 1) {
    throw Error("batch too small: expected at least 1, got " + text(b.batch));
  }
  if (b.micro_batch < 1 || b.micro_batch > b.batch) {
    throw Error("micro-batch out of range: expected 1 to the batch of " + text(b.batch) + ", got " +
                text(b.micro_batch));
  }
  if (options.mode == GradientMode::accumulated_graph && b.count() > kMostRecordedForwards) {
    throw Error("too many recorded forwards: expected at most " + text(kMostRecordedForwards) +
                " micro-batches in one graph, got " + text(b.count()));
  }
  if (options.dtype != DType::f32 && options.dtype != DType::f64) {
    throw Error("expected a floating type, f32 or f64, got " + std::string(name(options.dtype)));
  }
}

}  // namespace

Program plan(const Tape& tape, const Profile& profile, const PlanOptions& options) {
  check(options);
  check_contract(profile.kernels != nullptr, "a profile without kernels");
  return Planner(tape, profile, options).plan();
}

}  // namespace arenagrad
