#include "graph/plan.h"

#include <algorithm>

#include "graph/emitter.h"
#include "graph/plan_step.h"

namespace arenagrad {
namespace {

class Planner {
 public:
  Planner(const Tape& tape, const Profile& profile, const PlanOptions& options)
      : tape_(tape),
        profile_(profile),
        options_(options),
        passes_(tape, profile, options, program_) {
    program_.options = options;
    program_.alignment = profile.alignment;
    program_.layout = profile.layout;
  }

  Program plan() {
    setup();
    step(program_.first_step, true);
    step(program_.step, false);
    teardown();
    passes_.note_needs();
    return std::move(program_);
  }

 private:
  // --- setup and teardown ------------------------------------------------------------------------
  void setup() {
    Emitter emit(program_, program_.setup);
    if (profile_.library > 0) {
      program_.library = emit.birth({.bytes = profile_.library,
                                     .shape = Shape{static_cast<std::int64_t>(profile_.library)},
                                     .dtype = DType::u8,
                                     .category = Category::library,
                                     .holds = Holds::library,
                                     .phase = Phase::setup,
                                     .index = 0});
    }
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
      passes_.emit_calibration(emit);
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
    if (program_.library != kNoBuffer) emit.free(program_.library);
  }

  // --- a step ------------------------------------------------------------------------------------
  void step(Section& section, bool first) {
    Emitter emit(program_, section);
    section.gradients.assign(tape_.parameters().size(), kNoBuffer);
    emit.mark(MarkKind::step_begin);
    passes_.emit(emit);
    if (passes_.differentiates()) {
      emit.mark(MarkKind::backward_end);
      update(emit, first);
    } else {
      section.gradients.clear();
    }
    emit.mark(MarkKind::step_end);
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
    if (steps_alone(options_.mode)) return;  // freed with their micro-steps
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

  const Tape& tape_;
  const Profile& profile_;
  const PlanOptions& options_;
  Program program_;
  StepPlanner passes_;
};

void check(const Tape& tape, const PlanOptions& options) {
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
  const TapeNode& loss = tape.node(tape.loss());
  if (options.mode == GradientMode::per_step && b.count() > 1 && loss.layer->couples_samples()) {
    throw ModeRefused(
        "per-step takes the loss of each micro-batch apart: expected a loss that is a sum "
        "over samples, got " +
        std::string(loss.layer->op()) +
        ", which couples them; two-pass gives its exact gradient in the same memory");
  }
  if (options.recompute.kind == Recompute::Kind::every && options.recompute.every < 1) {
    throw Error("recompute: expected every 1 place or more, got " + text(options.recompute.every));
  }
  if (options.dtype != DType::f32 && options.dtype != DType::f64) {
    throw Error("expected a floating type, f32 or f64, got " + std::string(name(options.dtype)));
  }
}

/// Its statistics would be those of two different passes.
void check_passes_agree(const Program& program, const Tape& tape) {
  if (program.options.mode != GradientMode::two_pass || program.coupled.empty()) return;
  std::string names;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, program.coupled.size()); ++k) {
    names += (k > 0 ? ", " : "") + tape.node(program.coupled[k]).name;
  }
  if (program.coupled.size() > 3) {
    names += " and " + std::to_string(program.coupled.size() - 3) + " more";
  }
  throw ModeRefused(
      "two-pass runs every micro-batch twice: expected layers that treat samples apart and "
      "keep no statistics, got " +
      names +
      " in train mode, whose running statistics would be updated twice and whose batches "
      "are the micro-batches'; eval mode makes it exact");
}

}  // namespace

Program plan(const Tape& tape, const Profile& profile, const PlanOptions& options) {
  check(tape, options);
  check_contract(profile.kernels != nullptr, "a profile without kernels");
  try {
    Program program = Planner(tape, profile, options).plan();
    check_passes_agree(program, tape);
    return program;
  } catch (const ShapeError& error) {
    // Shapes per sample were sound when the tape recorded them.
    throw ShapeError("a batch of " + std::to_string(options.batching.batch) +
                     " samples: " + error.what());
  }
}

}  // namespace arenagrad
