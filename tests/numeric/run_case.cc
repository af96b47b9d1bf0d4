#include "tests/numeric/run_case.h"

#include <algorithm>

#include "allocator/arena.h"
#include "graph/execute.h"
#include "graph/plan.h"

namespace arenagrad::numeric {
namespace {

Values read(Backend& backend, ConstTensor from) {
  const auto elements = static_cast<std::size_t>(from.shape.elements());
  Values result{std::vector<double>(elements), from.dtype == DType::f32};
  if (from.dtype == DType::f64) {
    backend.copy_to_host(result.values.data(), from);
    return result;
  }
  std::vector<float> narrow(elements);
  backend.copy_to_host(narrow.data(), from);
  std::copy(narrow.begin(), narrow.end(), result.values.begin());
  return result;
}

void write(Backend& backend, std::span<const double> values, Tensor to) {
  check_contract(values.size() == static_cast<std::size_t>(to.shape.elements()),
                 "as many values as the tensor has elements");
  if (to.dtype == DType::f64) return backend.copy_from_host(to, values.data());
  const std::vector<float> narrow(values.begin(), values.end());
  backend.copy_from_host(to, narrow.data());
}

/// The case's batch, in every step.
class BatchFeed final : public Feed {
 public:
  explicit BatchFeed(const ReferenceCase& reference) : reference_(reference) {}

  void write(const Tape&, TensorId id, std::int64_t, std::int64_t, std::int64_t first_sample,
             Backend& backend, Tensor t) override {
    const auto first = static_cast<std::size_t>(first_sample);
    if (id == reference_.net.labels) {
      backend.copy_from_host(t, reference_.labels.data() + first);
      return;
    }
    const auto sample = reference_.samples.size() / static_cast<std::size_t>(reference_.batch);
    numeric::write(backend,
                   std::span(reference_.samples)
                       .subspan(first * sample, static_cast<std::size_t>(t.shape.elements())),
                   t);
  }

 private:
  const ReferenceCase& reference_;
};

/// Sets the start and takes down what the reference has numbers for.
class Recorder final : public Observer {
 public:
  Recorder(const ReferenceCase& reference, Results& to) : reference_(reference), to_(to) {}

  void after_setup(RunAccess& access) override {
    for (std::size_t i = 0; i < reference_.parameters.size(); ++i)
      write(access.backend(), reference_.parameters[i],
            access.tensor(access.program().parameters[i]));
    for (std::size_t i = 0; i < reference_.states.size(); ++i)
      if (!reference_.states[i].empty())
        write(access.backend(), reference_.states[i], access.tensor(access.program().states[i]));
  }

  void after_exec(const Exec& exec, std::int64_t step, RunAccess& access) override {
    if (step != 0) return;
    const Program& program = access.program();
    if (exec.pass == Pass::forward && exec.node != reference_.net.loss) {
      for (const Operand& operand : program.operands_of(exec)) {
        if (operand.role == Role::output)
          append(to_[Kind::activation][access.tape().node(exec.node).name],
                 read(access.backend(), access.tensor(operand.buffer)));
      }
    }
    record_input_gradient(exec, access);
  }

  void gradients_ready(std::int64_t step, const Section& section, RunAccess& access) override {
    if (step != 0) return;
    for (std::size_t i = 0; i < section.gradients.size(); ++i)
      to_[Kind::gradient][access.tape().parameters()[i].name] =
          read(access.backend(), access.tensor(section.gradients[i]));
    for (const auto& [first, values] : input_gradients_)
      append(to_[Kind::input_gradient]["x"], values);
  }

  void after_step(std::int64_t step, double, RunAccess& access) override {
    const Tape& tape = access.tape();
    if (step > 1) return;
    for (std::size_t i = 0; i < tape.states().size(); ++i) {
      if (tape.states()[i].dtype) continue;
      to_[step == 0 ? Kind::state_after1 : Kind::state_after2][tape.states()[i].name] =
          read(access.backend(), access.tensor(access.program().states[i]));
    }
    for (std::size_t i = 0; step == 1 && i < tape.parameters().size(); ++i)
      to_[Kind::parameter_after2][tape.parameters()[i].name] =
          read(access.backend(), access.tensor(access.program().parameters[i]));
  }

 private:
  static void append(Values& to, const Values& more) {
    to.values.insert(to.values.end(), more.values.begin(), more.values.end());
    to.stored_as_f32 = more.stored_as_f32;
  }

  /// The samples' gradient may be written several times, in memory that held another gradient
  /// before, and dies with its micro-step: the last write counts.
  void record_input_gradient(const Exec& exec, RunAccess& access) {
    const Program& program = access.program();
    const std::vector<BufferId>& wanted = program.first_step.input_gradients;
    for (const Operand& operand : program.operands_of(exec)) {
      if (operand.writes && std::ranges::find(wanted, operand.buffer) != wanted.end())
        input_gradients_[exec.first_sample] = read(access.backend(), access.tensor(operand.buffer));
    }
  }

  const ReferenceCase& reference_;
  Results& to_;
  std::map<std::int64_t, Values> input_gradients_;  // by first sample
};

/// A layer that is an alias never runs: its output is its input's memory.
void fill_in_aliases(const ReferenceCase& reference, std::map<std::string, Values>& activations) {
  for (NodeId id : reference.net.layers) {
    const Tape& tape = reference.net.tape;
    const TapeNode& node = tape.node(id);
    if (activations.contains(node.name)) continue;
    const NodeId source = tape.tensor(node.inputs.front()).producer;
    activations[node.name] =
        source == kNoNode ? Values{reference.samples} : activations.at(tape.node(source).name);
  }
}

}  // namespace

Outcome run_case(const ReferenceCase& reference, DType dtype, const Way& way, Backend& backend) {
  const std::int64_t micro_batch = way.micro_batch == 0 ? reference.batch : way.micro_batch;
  PlanOptions options;
  options.batching = {.batch = reference.batch, .micro_batch = micro_batch};
  options.mode = way.mode;
  options.policy = way.policy;
  options.optimizer = reference.optimizer;
  options.run = reference.run;
  options.dtype = dtype;
  options.input_gradients = true;

  const Tape& tape = reference.net.tape;
  const Profile profile = cpu_profile();
  const Program program = plan(tape, profile, options);
  constexpr std::int64_t kSteps = 3;
  const std::vector<Lifetime> lives = lifetimes(program, kSteps);
  HostDriver driver(profile.capacity, profile.granule);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), program.alignment, lives);
  arena.fill_new_memory_with(std::byte{0xff});

  Outcome outcome;
  BatchFeed feed(reference);
  Recorder recorder(reference, outcome.results);
  ExecuteOptions run;
  run.steps = kSteps;
  run.backend = &backend;
  run.feed = &feed;
  run.observer = &recorder;
  const RunResult result = execute(program, tape, arena, run);

  Results& results = outcome.results;
  results[Kind::loss]["losses"] = {result.losses};
  fill_in_aliases(reference, results[Kind::activation]);
  const std::string& last = tape.node(reference.net.layers.back()).name;
  results[Kind::logits]["logits"] = results[Kind::activation][last];
  for (NodeId id : program.coupled) outcome.coupled.push_back(tape.node(id).name);
  return outcome;
}

}  // namespace arenagrad::numeric
