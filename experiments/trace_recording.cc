#include "experiments/trace_recording.h"

#include <vector>

namespace arenagrad {
namespace {

using Op = Instruction::Op;

/// The program and the log walked side by side.
class Recording {
 public:
  Recording(const Experiment& experiment, std::span<const Event> log, TraceSink& sink)
      : program_(experiment.program),
        tape_(experiment.model->tape),
        steps_(experiment.settings.steps),
        log_(log),
        sink_(sink) {
    names_.resize(program_.buffers.size());
  }

  void run() {
    section(program_.setup, 0);
    section(program_.first_step, 1);
    for (std::int64_t step = 2; step <= steps_ && !refused_; ++step) section(program_.step, step);
    teardown_ = true;
    section(program_.teardown, 0);
    while (!log_.empty()) pass();  // what a refused run gave back
  }

 private:
  struct Scope {
    const std::string* layer = nullptr;
    std::string_view phase;
    friend bool operator==(const Scope&, const Scope&) = default;
  };

  void section(const Section& section, std::int64_t step) {
    if (refused_) return;
    step_ = step;
    scopes_ = scopes_of(section);
    code(section, 0, static_cast<std::uint32_t>(section.code.size()), 0);
  }

  void code(const Section& section, std::uint32_t begin, std::uint32_t end, std::int64_t round) {
    for (std::uint32_t at = begin; at < end && !refused_; ++at) {
      const Instruction& instruction = section.code[at];
      if (instruction.op == Op::repeat_begin) {
        for (std::int64_t r = 0; r < instruction.count && !refused_; ++r) {
          code(section, at + 1, instruction.index - 1, r);
        }
        at = instruction.index - 1;
      } else if (instruction.op == Op::allocate || instruction.op == Op::free) {
        enter(scopes_[at]);
        memory(instruction, round);
      }
    }
  }

  /// Driver calls come before the event that needed them.
  void memory(const Instruction& instruction, std::int64_t round) {
    const BufferId id{instruction.index};
    const auto kind = instruction.op == Op::allocate ? Event::Kind::allocate : Event::Kind::free;
    while (!log_.empty() && log_.front().kind != Event::Kind::allocate &&
           log_.front().kind != Event::Kind::free) {
      pass();
    }
    if (kind == Event::Kind::allocate) name(id, round);
    if (!log_.empty() && log_.front().kind == kind && log_.front().buffer == id) return pass();
    check_contract(kind == Event::Kind::allocate, "a log is not its program's");
    const Buffer& buffer = program_.buffer(id);
    sink_.event({.kind = TraceEvent::Kind::refuse,
                 .category = buffer.category,
                 .id = index(id),
                 .bytes = buffer.bytes,
                 .name = names_[index(id)]});
    refused_ = true;
  }

  /// Hands the log's next event on.
  void pass() {
    const Event& event = log_.front();
    using To = TraceEvent::Kind;
    constexpr To kinds[] = {To::allocate, To::free,     To::reserve, To::release,
                            To::commit,   To::decommit, To::map,     To::unmap};
    TraceEvent out{.kind = kinds[static_cast<std::size_t>(event.kind)]};
    if (event.kind == Event::Kind::free) {
      out.id = index(event.buffer);
    } else {
      out.bytes = event.requested;
      out.offset = event.offset;
    }
    if (event.kind == Event::Kind::allocate) {
      out.id = index(event.buffer);
      out.category = event.category;
      out.granted = event.granted;
      out.name = names_[out.id];
    }
    sink_.event(out);
    log_ = log_.subspan(1);
  }

  /// A micro-batch's buffer is named after it, which is another one in each round.
  void name(BufferId id, std::int64_t round) {
    std::string& name = names_[index(id)];
    if (name.empty() || program_.buffer(id).micro >= 0) {
      name = describe(program_, tape_, id, round);
    }
  }

  // --- scopes ------------------------------------------------------------------------------------

  /// What is allocated is for the next computation, what is freed was for the last one.
  std::vector<Scope> scopes_of(const Section& section) const {
    const auto size = section.code.size();
    std::vector<Scope> scopes(size, Scope{nullptr, arenagrad::name(outside())});
    const auto is_exec = [&](std::size_t at) { return section.code[at].op == Op::exec; };
    std::optional<Scope> near;
    for (std::size_t at = 0; at < size; ++at) {
      if (is_exec(at)) near = scope_of(program_.execs[section.code[at].index]);
      if (near) scopes[at] = *near;
    }
    near.reset();
    for (std::size_t at = size; at-- > 0;) {
      if (is_exec(at)) near = scope_of(program_.execs[section.code[at].index]);
      if (near && section.code[at].op == Op::allocate) scopes[at] = *near;
    }
    return scopes;
  }

  Phase outside() const {
    return teardown_ ? Phase::teardown : step_ == 0 ? Phase::setup : Phase::forward;
  }

  Scope scope_of(const Exec& exec) const {
    const std::string* what = exec.pass == Pass::update ? &tape_.parameters()[exec.index].name
                              : exec.node == kNoNode    ? nullptr
                                                        : &tape_.node(exec.node).name;
    return {what, arenagrad::name(phase_of(exec))};
  }

  void enter(const Scope& scope) {
    if (entered_ && scope == scope_ && step_ == entered_step_) return;
    entered_ = true;
    scope_ = scope;
    entered_step_ = step_;
    sink_.event({.kind = TraceEvent::Kind::scope,
                 .name = scope.layer ? std::string_view(*scope.layer) : std::string_view{},
                 .phase = scope.phase,
                 .step = step_});
  }

  const Program& program_;
  const Tape& tape_;
  std::int64_t steps_;
  std::span<const Event> log_;  // what is left of it
  TraceSink& sink_;
  std::vector<std::string> names_;  // by buffer, once it was born
  std::vector<Scope> scopes_;       // by instruction of the section at work
  Scope scope_;
  std::int64_t step_ = 0, entered_step_ = 0;
  bool entered_ = false, teardown_ = false, refused_ = false;
};

}  // namespace

void record_trace(const Experiment& experiment, std::span<const Event> log, TraceSink& sink) {
  const auto& settings = experiment.settings;
  sink.begin({experiment.model->name + ", batch " + std::to_string(settings.plan.batching.batch) +
                  ", " + std::string(name(settings.plan.mode)) + ", " + settings.strategy,
              experiment.profile.alignment});
  Recording(experiment, log, sink).run();
  sink.end();
}

}  // namespace arenagrad
