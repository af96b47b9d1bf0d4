// The processor's run and the GPU's side by side: one program and one ledger, event by event, apart
// from what libraries and kernels want as scratch; the same losses and gradients within rounding.
#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/recorder.h"
#include "tests/cuda/training.h"
#include "tests/experiments/random_nets.h"

namespace arenagrad::cuda_test {
namespace {

using Lines = std::vector<std::string>;

bool is_scratch(Category category) {
  return category == Category::workspace || category == Category::library;
}

/// Writes programs and ledgers as lines in which scratch doesn't occur. Buffers have the numbers
/// they would have without scratch.
class Writer {
 public:
  Writer(const Program& program, const Tape& tape) : program_(program) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      const auto id = static_cast<BufferId>(i);
      const Buffer& buffer = program.buffer(id);
      if (is_scratch(buffer.category)) continue;
      names_[id] = std::to_string(number++) + " " + describe(program, tape, id) + " " +
                   std::string(name(buffer.category)) + " " + std::to_string(buffer.bytes) + " " +
                   std::to_string(buffer.samples) + " " + std::string(name(buffer.phase));
    }
  }

  Lines program() const {
    Lines lines;
    for (const Section* section :
         {&program_.setup, &program_.first_step, &program_.step, &program_.teardown}) {
      lines.emplace_back("section");
      for (const Instruction& instruction : section->code) add(instruction, lines);
    }
    return lines;
  }

  /// Allocations and frees in their order; driver calls follow from granules and scratch.
  Lines ledger(const std::vector<Event>& events) const {
    Lines lines;
    for (const Event& event : events) {
      const bool born = event.kind == Event::Kind::allocate;
      if ((!born && event.kind != Event::Kind::free) || is_scratch(event.category)) continue;
      lines.push_back((born ? "allocate " : "free ") + std::to_string(event.requested) + " " +
                      std::string(name(event.category)) + " " + names_.at(event.buffer));
    }
    return lines;
  }

 private:
  void add(const Instruction& instruction, Lines& lines) const {
    using Op = Instruction::Op;
    const std::string index = std::to_string(instruction.index);
    switch (instruction.op) {
      case Op::allocate:
      case Op::free: {
        const auto found = names_.find(static_cast<BufferId>(instruction.index));
        if (found != names_.end())
          lines.push_back((instruction.op == Op::allocate ? "allocate " : "free ") + found->second);
        return;
      }
      case Op::exec: return lines.push_back(text(program_.execs[instruction.index]));
      case Op::mark: return lines.push_back("mark " + index);
      case Op::repeat_begin: return lines.push_back("repeat " + std::to_string(instruction.count));
      case Op::repeat_end: return lines.push_back("end of repeat");
    }
  }

  std::string text(const Exec& exec) const {
    std::string line = "exec";
    for (const std::int64_t value :
         {static_cast<std::int64_t>(exec.pass), static_cast<std::int64_t>(exec.node),
          static_cast<std::int64_t>(exec.index), static_cast<std::int64_t>(exec.micro),
          exec.first_sample, exec.samples, static_cast<std::int64_t>(exec.saves),
          static_cast<std::int64_t>(exec.updates_state), static_cast<std::int64_t>(exec.calibrates),
          static_cast<std::int64_t>(exec.again), static_cast<std::int64_t>(exec.run)})
      line += " " + std::to_string(value);
    line += " weight " + std::to_string(exec.weight);
    for (const Operand& operand : program_.operands_of(exec)) {
      if (operand.role == Role::workspace) continue;
      line += "; " + std::to_string(static_cast<int>(operand.role)) + " " +
              std::to_string(operand.slot) + (operand.writes ? " writes " : " reads ") +
              (operand.write == Write::accumulate ? "more of " : "") + names_.at(operand.buffer);
    }
    return line;
  }

  const Program& program_;
  std::map<BufferId, std::string> names_;  // of all that is not scratch
};

/// Everything that two runs should have in common.
struct Story {
  Lines program, ledger;
  std::vector<double> losses;
  HostTensors gradients;
};

Story tell(const Model& model, const Settings& settings, Device* device) {
  Recorder recorder;
  std::vector<Event> events;
  const auto run =
      run_real(model, settings, {.device = device, .observer = &recorder, .log = &events});
  EXPECT_TRUE(run.measurement.planned_equals_observed == true);
  const Writer writer(run.experiment.program, model.tape);
  return {writer.program(), writer.ledger(events), run.measurement.losses, recorder.gradients()};
}

/// Where two lists part, said in two lines; empty when they don't.
std::string parting(const Lines& cpu, const Lines& gpu) {
  const auto [a, b] = std::mismatch(cpu.begin(), cpu.end(), gpu.begin(), gpu.end());
  if (a == cpu.end() && b == gpu.end()) return "";
  return "line " + std::to_string(a - cpu.begin()) + "\n  cpu: " + (a == cpu.end() ? "ends" : *a) +
         "\n  gpu: " + (b == gpu.end() ? "ends" : *b);
}

void expect_one_story(const Model& model, Settings settings, double limit) {
  const GpuUnderTest gpu;
  // Two devices, two sizes of dropout's mask: that is planned for on purpose.
  settings.profile.dropout_mask_is_float = gpu.profile().dropout_mask_is_float;
  const Story on_cpu = tell(model, settings, nullptr);
  settings.profile = gpu.profile();
  const auto device = gpu.open();
  const Story on_gpu = tell(model, settings, device.get());

  EXPECT_GT(on_cpu.ledger.size(), 10u);
  EXPECT_EQ(parting(on_cpu.program, on_gpu.program), "");
  EXPECT_EQ(parting(on_cpu.ledger, on_gpu.ledger), "");
  ASSERT_EQ(on_gpu.losses.size(), on_cpu.losses.size());
  for (std::size_t step = 0; step < on_cpu.losses.size(); ++step)
    EXPECT_NEAR(on_gpu.losses[step], on_cpu.losses[step], limit * std::abs(on_cpu.losses[step]));
  const Difference gradients = difference(on_cpu.gradients, on_gpu.gradients);
  EXPECT_TRUE(gradients.finite);
  EXPECT_LE(gradients.rel_l2, limit) << gradients.worst_parameter;
}

using SameProgram = OnEmulatedGpu;

/// Every kind of layer that a device has kernels of its own for, or that shares memory.
Model net_of_everything() {
  return parse_model(R"({"name": "everything", "input": [4, 12, 12], "classes": 3, "layers": [
      {"name": "conv1", "op": "conv2d", "out_channels": 8, "kernel": 3, "padding": 1, "groups": 2},
      {"name": "bn1", "op": "batch_norm"},
      {"name": "relu1", "op": "relu"},
      {"name": "lrn", "op": "local_response_norm", "size": 3},
      {"name": "conv2", "op": "conv2d", "out_channels": 8, "kernel": 3, "padding": 2, "dilation": 2},
      {"name": "add", "op": "add", "in": ["conv2", "relu1"]},
      {"name": "relu2", "op": "relu"},
      {"name": "pool1", "op": "max_pool", "kernel": 2, "stride": 2},
      {"name": "pool2", "op": "avg_pool", "kernel": 2, "stride": 2},
      {"name": "flatten", "op": "flatten"},
      {"name": "fc1", "op": "linear", "out_features": 16},
      {"name": "drop", "op": "dropout", "p": 0.5},
      {"name": "fc2", "op": "linear", "out_features": 3}]})",
                     "everything.json");
}

TEST_F(SameProgram, OfANetWithEverything) {
  for (const GradientMode mode : kModes)
    for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
      SCOPED_TRACE(std::string(name(mode)) + (policy == SavedPolicy::lean ? ", lean" : ""));
      Settings settings = training_settings(mode);
      settings.steps = 2;  // a first and a steady one
      settings.plan.policy = policy;
      expect_one_story(net_of_everything(), settings, 2e-5);
    }
}

TEST_F(SameProgram, OfSmallNets) {
  for (const GradientMode mode : kModes)
    for (const bool batch_norm : {false, true}) {
      SCOPED_TRACE(name(mode));
      expect_one_story(test::small_net(batch_norm), training_settings(mode), 2e-5);
    }
}

TEST_F(SameProgram, OfNetsOfAnyShape) {
  for (unsigned seed = 1; seed <= 4; ++seed)
    for (const GradientMode mode : kModes) {
      SCOPED_TRACE(std::string(name(mode)) + ", seed " + std::to_string(seed));
      std::mt19937 draw(seed);
      const Model model = test::random_net(draw);
      Settings settings = in_mode(test::random_settings(draw), mode);
      settings.plan.batching = {5, 2};
      expect_one_story(model, settings, 1e-4);
    }
}

/// Else the tests above could not fail.
TEST_F(SameProgram, IsNotAnyProgram) {
  const Model model = net_of_everything();
  Settings settings = training_settings(GradientMode::full_batch);
  const Story lean = tell(model, settings, nullptr);
  settings.plan.policy = SavedPolicy::pytorch;
  const Story keeping = tell(model, settings, nullptr);
  EXPECT_NE(parting(lean.program, keeping.program), "");
  EXPECT_NE(parting(lean.ledger, keeping.ledger), "");
  settings.plan.policy = SavedPolicy::lean;
  settings.plan.batching.batch = 4;
  EXPECT_NE(parting(lean.ledger, tell(model, settings, nullptr).ledger), "");
}

}  // namespace
}  // namespace arenagrad::cuda_test
