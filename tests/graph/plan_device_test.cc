// What a device's profile puts into a program: memory for its libraries, and workspace that depends
// on how a gradient is written.
#include <gtest/gtest.h>

#include <map>

#include "graph/plan.h"
#include "tests/graph/toy_layers.h"

namespace arenagrad {
namespace {

using toy::Net;

PlanOptions options(std::int64_t batch, std::int64_t micro, GradientMode mode) {
  PlanOptions options;
  options.batching = {batch, micro};
  options.mode = mode;
  return options;
}

Tape small_net() {
  Net net;
  net.then("a", toy::weighted());
  net.then("b", toy::rectifier());
  return net.finish();
}

TEST(PlanForADevice, LibraryMemoryIsTheFirstBornAndTheLastToDie) {
  const Tape tape = small_net();
  Profile profile = toy::profile();
  const Program without = plan(tape, profile, options(4, 2, GradientMode::per_step));
  EXPECT_EQ(without.library, kNoBuffer);

  profile.library = 12345;
  const Program program = plan(tape, profile, options(4, 2, GradientMode::per_step));
  ASSERT_NE(program.library, kNoBuffer);
  const Buffer& buffer = program.buffer(program.library);
  EXPECT_EQ(buffer.bytes, 12345u);
  EXPECT_EQ(buffer.category, Category::library);
  const Instruction born = program.setup.code.front(), dies = program.teardown.code.back();
  EXPECT_EQ(born.op, Instruction::Op::allocate);
  EXPECT_EQ(BufferId{born.index}, program.library);
  EXPECT_EQ(dies.op, Instruction::Op::free);
  EXPECT_EQ(BufferId{dies.index}, program.library);
  EXPECT_EQ(persistent_bytes(program), persistent_bytes(without) + 12345);
  EXPECT_EQ(program.step.code.size(), without.step.code.size());
}

/// A layer like a convolution whose engines take more room to add than to overwrite.
std::unique_ptr<Layer> hungry() {
  return toy::layer({.reads_inputs = {true},
                     .backward_workspace = 100,
                     .add_to_input_workspace = 300,
                     .add_to_parameter_workspace = 200},
                    5);
}

/// Bytes of workspace of a node's backward, by number of times.
std::map<std::size_t, int> workspaces(const Program& program, const Tape& tape,
                                      const std::string& node) {
  std::map<std::size_t, int> found;
  for (const Instruction& instruction : program.step.code) {
    if (instruction.op != Instruction::Op::exec) continue;
    const Exec& exec = program.execs[instruction.index];
    if (exec.pass != Pass::backward || tape.node(exec.node).name != node) continue;
    for (const Operand& operand : program.operands_of(exec))
      if (operand.role == Role::workspace) ++found[program.buffer(operand.buffer).bytes];
  }
  return found;
}

TEST(PlanForADevice, AddingTakesItsOwnWorkspaceOnlyWhereItHappens) {
  Net net;
  const TensorId a = net.then("a", toy::weighted());
  const TensorId inputs[] = {a};
  const TensorId left = net.tape.record("left", hungry(), inputs);
  const TensorId right = net.tape.record("right", hungry(), inputs);
  net.join("join", toy::addition(), left, right);
  const Tape tape = net.finish();
  using Found = std::map<std::size_t, int>;

  // One pass: the second branch to come adds to the gradient of a; no parameter is added to.
  const Program whole = plan(tape, toy::profile(), options(4, 4, GradientMode::full_batch));
  EXPECT_EQ(workspaces(whole, tape, "right"), (Found{{100, 1}}));
  EXPECT_EQ(workspaces(whole, tape, "left"), (Found{{300, 1}}));

  // From the second micro-step on, parameters are added to as well.
  const Program steps = plan(tape, toy::profile(), options(4, 2, GradientMode::per_step));
  EXPECT_EQ(workspaces(steps, tape, "right"), (Found{{100, 1}, {200, 1}}));
  EXPECT_EQ(workspaces(steps, tape, "left"), (Found{{300, 2}}));
}

}  // namespace
}  // namespace arenagrad
