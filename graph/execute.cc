#include "graph/execute.h"

#include <chrono>

#include "graph/compute.h"
#include "graph/event_stream.h"

namespace arenagrad {
namespace {

using Clock = std::chrono::steady_clock;

/// Time by phase: marks say which one is running.
class Stopwatch {
 public:
  void mark(MarkKind kind) {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (running_ != nullptr) *running_ += seconds;
    since_ = now;
    switch (kind) {
      case MarkKind::step_begin:
        times_ = {};
        step_since_ = now;
        running_ = nullptr;
        break;
      case MarkKind::forward_begin: running_ = &times_.forward; break;
      case MarkKind::backward_begin: running_ = &times_.backward; break;
      case MarkKind::update_begin: running_ = &times_.update; break;
      case MarkKind::forward_end:
      case MarkKind::backward_end: running_ = nullptr; break;
      case MarkKind::step_end:
        running_ = nullptr;
        times_.total = std::chrono::duration<double>(now - step_since_).count();
        break;
    }
  }
  const StepTimes& times() const { return times_; }

 private:
  Clock::time_point since_{}, step_since_{};
  double* running_ = nullptr;
  StepTimes times_;
};

/// Tells a backend the phases between marks: those of a step lie inside it.
class Phases {
 public:
  void mark(MarkKind kind, Backend& backend) {
    switch (kind) {
      case MarkKind::step_begin: backend.enter("step"); break;
      case MarkKind::forward_begin: enter("forward", backend); break;
      case MarkKind::backward_begin: enter("backward", backend); break;
      case MarkKind::update_begin: enter("update", backend); break;
      case MarkKind::forward_end:
      case MarkKind::backward_end: leave(backend); break;
      case MarkKind::step_end:
        leave(backend);
        backend.leave();
        break;
    }
  }

 private:
  void enter(std::string_view phase, Backend& backend) {
    leave(backend);
    backend.enter(phase);
    inside_ = true;
  }
  void leave(Backend& backend) {
    if (inside_) backend.leave();
    inside_ = false;
  }

  bool inside_ = false;
};

class Executor final : public BufferTable, public RunAccess {
 public:
  Executor(const Program& program, const Tape& tape, Arena& arena, const ExecuteOptions& options)
      : program_(program), tape_(tape), arena_(arena), options_(options) {
    placements_.resize(program.buffers.size());
    live_.assign(program.buffers.size(), false);
  }

  RunResult run() {
    check_contract(options_.backend == nullptr || options_.feed != nullptr, "a run without a feed");
    check_contract(options_.steps >= 1, "a run without a step");
    // A dry run may skip rounds that cannot differ, and is itself what real runs are held against.
    EventStream stream(program_, options_.steps);
    if (real()) {
      arena_.ledger().expect([&stream] { return stream.next(); });
    }
    try {
      run_all();
    } catch (...) {
      arena_.ledger().expect({});
      for (BufferId id : arena_.ledger().live_now()) arena_.free(id);
      throw;
    }
    arena_.ledger().expect({});
    return std::move(result_);
  }

  void* address(BufferId id) const override {
    check_contract(live_[index(id)], "a buffer was used before its birth or after its end");
    return arena_.at(placements_[index(id)]);
  }
  const Program& program() const override { return program_; }
  const Tape& tape() const override { return tape_; }
  Backend& backend() override { return *options_.backend; }
  Tensor tensor(BufferId id) override {
    const Buffer& buffer = program_.buffer(id);
    return {address(id), buffer.shape, buffer.dtype, program_.layout};
  }

 private:
  using Part = Position::Part;

  bool real() const { return options_.backend != nullptr; }

  void run_all() {
    run_section(Part::setup, 0);
    if (options_.observer != nullptr && real()) options_.observer->after_setup(*this);
    run_step(Part::first_step, 0);
    repeat(options_.steps - 1, [&](std::int64_t round) { run_step(Part::step, round + 1); });
    run_section(Part::teardown, options_.steps);
    check_contract(arena_.ledger().totals().requested == 0, "memory is live after teardown");
  }

  void run_step(Part part, std::int64_t step) {
    loss_ = 0;
    run_section(part, step);
    check_persistent_only();
    if (!real()) return;
    result_.losses.push_back(loss_);
    result_.times.push_back(watch_.times());
    if (options_.observer != nullptr) options_.observer->after_step(step, loss_, *this);
  }

  /// Between steps exactly the persistent categories are live.
  void check_persistent_only() {
    const Totals& totals = arena_.ledger().totals();
    for (std::size_t c = 0; c < kCategoryCount; ++c) {
      const auto category = static_cast<Category>(c);
      const bool persistent =
          category == Category::parameter || category == Category::model_state ||
          category == Category::optimizer_state || category == Category::library;
      check_contract(persistent || totals.live[c] == 0, "memory of a step outlives it");
    }
    check_contract(totals.requested == persistent_bytes(program_),
                   "live bytes between steps are not the persistent ones");
  }

  /// Runs a body that has the same events each time. A dry run stops when the strategy is back
  /// where the round began: the remaining rounds cannot differ.
  template <class Body>
  void repeat(std::int64_t rounds, Body body) {
    Ledger& ledger = arena_.ledger();
    for (std::int64_t round = 0; round < rounds; ++round) {
      check_interrupted();
      const auto before = arena_.strategy().fingerprint();
      ledger.begin_round();
      body(round);
      ledger.end_round();
      if (!real() && before && before == arena_.strategy().fingerprint()) {
        ledger.repeat_round(static_cast<std::uint64_t>(rounds - round - 1));
        return;
      }
    }
  }

  void run_section(Part part, std::int64_t step) {
    const Section& section = section_of(program_, part);
    run_code(section, part, step, 0, static_cast<std::uint32_t>(section.code.size()), 0);
  }

  void run_code(const Section& section, Part part, std::int64_t step, std::uint32_t begin,
                std::uint32_t end, std::int64_t round) {
    for (std::uint32_t at = begin; at < end; ++at) {
      const Instruction& instruction = section.code[at];
      arena_.ledger().at(encode({part, step, at}));
      switch (instruction.op) {
        case Instruction::Op::allocate: allocate(BufferId{instruction.index}); break;
        case Instruction::Op::free: free(BufferId{instruction.index}); break;
        case Instruction::Op::exec: exec(program_.execs[instruction.index], step, round); break;
        case Instruction::Op::mark:
          mark(MarkKind{static_cast<std::uint8_t>(instruction.index)}, section, step);
          break;
        case Instruction::Op::repeat_begin:
          repeat(instruction.count, [&](std::int64_t r) {
            run_code(section, part, step, at + 1, instruction.index - 1, r);
          });
          at = instruction.index - 1;
          break;
        case Instruction::Op::repeat_end: throw ContractError("a repeat without a beginning");
      }
    }
  }

  void allocate(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    placements_[index(id)] = arena_.allocate({.id = id,
                                              .bytes = buffer.bytes,
                                              .alignment = program_.alignment,
                                              .category = buffer.category});
    live_[index(id)] = true;
    if (real() && buffer.holds == Holds::library)
      options_.backend->use_library({address(id), buffer.bytes});
  }

  void free(BufferId id) {
    arena_.free(id);
    live_[index(id)] = false;
  }

  void exec(const Exec& planned, std::int64_t step, std::int64_t round) {
    check_interrupted();
    if (!real()) return;
    Exec exec = planned;  // the round of a repeat shifts the micro-batch
    exec.micro += static_cast<std::int32_t>(round);
    exec.first_sample += round * program_.options.batching.micro_batch;
    loss_ += compute({program_, tape_, exec, *this, *options_.backend, options_.seed, step},
                     *options_.feed);
    if (options_.observer != nullptr) options_.observer->after_exec(exec, step, *this);
  }

  void check_interrupted() const {
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed)) {
      throw Interrupted();
    }
  }

  void mark(MarkKind kind, const Section& section, std::int64_t step) {
    if (!real()) return;
    // Times by phase and the step's are the device's, not those of handing work over.
    if (kind == MarkKind::forward_end || kind == MarkKind::backward_end ||
        kind == MarkKind::step_end)
      options_.backend->finish();
    watch_.mark(kind);
    phases_.mark(kind, *options_.backend);
    if (kind == MarkKind::backward_end && options_.observer != nullptr) {
      options_.observer->gradients_ready(step, section, *this);
    }
  }

  const Program& program_;
  const Tape& tape_;
  Arena& arena_;
  const ExecuteOptions& options_;
  std::vector<Placement> placements_;  // by buffer
  std::vector<bool> live_;
  double loss_ = 0;
  Stopwatch watch_;
  Phases phases_;
  RunResult result_;
};

}  // namespace

RunResult execute(const Program& program, const Tape& tape, Arena& arena,
                  const ExecuteOptions& options) {
  return Executor(program, tape, arena, options).run();
}

}  // namespace arenagrad
