#include "graph/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocator/arena.h"
#include "graph/execute.h"
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

const GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                               GradientMode::per_step};

std::size_t peak(const Program& program, const Tape& tape, std::int64_t steps = 2) {
  SimulatedDriver driver(kUnlimited, 2 << 20);
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), program.alignment, {});
  execute(program, tape, arena, {.steps = steps});
  return ledger.peak().requested;
}

std::int64_t count(const Program& program, const Section& section, Pass pass) {
  return std::ranges::count_if(section.code, [&](const Instruction& instruction) {
    return instruction.op == Instruction::Op::exec && program.execs[instruction.index].pass == pass;
  });
}

std::size_t count(const Program& program, Holds holds) {
  return static_cast<std::size_t>(std::ranges::count(program.buffers, holds, &Buffer::holds));
}

TEST(Plan, ClosedFormOfAChain) {
  // x (10 floats) -> weighted a -> weighted b -> loss; a, b read their inputs, the loss its own.
  Net net;
  net.then("a", toy::weighted());
  net.then("b", toy::weighted());
  const Tape tape = net.finish();
  // Peak at N = 4 in backward of the loss: parameters 2*20; x, a, b 3*160, labels 32, b's gradient
  // 160.
  const Program full = plan(tape, toy::profile(), options(4, 4, GradientMode::full_batch));
  EXPECT_EQ(peak(full, tape), 40u + 3 * 160 + 32 + 160);
  // Two at a time: the same with N = 2, plus the first micro-step's gradients 2*20.
  const Program per_step = plan(tape, toy::profile(), options(4, 2, GradientMode::per_step));
  EXPECT_EQ(peak(per_step, tape), 40u + 3 * 80 + 16 + 80 + 40);
  // All four recorded; in backward of b of the last two its output and labels are gone, and there
  // are the gradients of b, of a and of b's weight.
  const Program graph = plan(tape, toy::profile(), options(4, 2, GradientMode::accumulated_graph));
  EXPECT_EQ(peak(graph, tape), 40u + (3 * 80 + 16) + 2 * 80 + 80 + 80 + 20);
}

TEST(Plan, PerStepMemoryDoesNotDependOnTheNumberOfMicroBatches) {
  Net net;
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  const auto peak_of = [&](std::int64_t batch) {
    return peak(plan(tape, toy::profile(), options(batch, 3, GradientMode::per_step)), tape);
  };
  EXPECT_EQ(peak_of(9), peak_of(300'000'000));
}

TEST(Plan, InPlaceChainsCostNothingPerLayer) {
  const auto bytes_at_depth = [](int depth) {
    Net net;
    net.then("a", toy::layer({.reads_inputs = {true}}, 5));
    for (int i = 0; i < depth; ++i) {
      net.then("r" + std::to_string(i),
               toy::layer({.forward_in_place = true, .backward_in_place = true}));
    }
    const Tape tape = net.finish();
    return peak(plan(tape, toy::profile(), options(4, 4, GradientMode::full_batch)), tape);
  };
  EXPECT_EQ(bytes_at_depth(1), bytes_at_depth(30));
}

TEST(Plan, WhatBackwardReadsIsNotOverwritten) {
  // The second rectifier may not overwrite the first one's saved output.
  Net net;
  net.then("a", toy::weighted());
  net.then("r1", toy::rectifier());
  net.then("r2", toy::rectifier());
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  std::vector<std::string> born;
  for (const Instruction& instruction : program.step.code) {
    if (instruction.op != Instruction::Op::allocate) continue;
    const BufferId id{instruction.index};
    if (program.buffer(id).category == Category::activation) {
      born.push_back(describe(program, tape, id));
    }
  }
  EXPECT_EQ(born, (std::vector<std::string>{"a output", "r2 output", "loss output"}));
}

TEST(Plan, FedSamplesAreNeverOverwritten) {
  Net net;
  net.then("r", toy::rectifier());
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  // x dies after r; in backward of the loss: r and a saved, labels, a's gradient.
  EXPECT_EQ(peak(program, tape), 20u + 40 + 40 + 8 + 40);
  // In forward r has memory of its own: nothing writes to the fed x.
  for (const Exec& exec : program.execs) {
    if (exec.pass != Pass::forward) continue;
    for (const Operand& operand : program.operands_of(exec)) {
      if (operand.writes) {
        EXPECT_NE(program.buffer(operand.buffer).category, Category::input);
      }
    }
  }
}

TEST(Plan, AliasesAreOneBuffer) {
  Net plain, viewed;
  for (Net* net : {&plain, &viewed}) {
    net->then("a", toy::weighted());
    if (net == &viewed) {
      net->then("v1", toy::view());
      net->then("v2", toy::view());
    }
    net->then("b", toy::weighted());
  }
  const Tape a = plain.finish(), b = viewed.finish();
  for (GradientMode mode : kModes) {
    const Program p = plan(a, toy::profile(), options(4, 2, mode));
    const Program q = plan(b, toy::profile(), options(4, 2, mode));
    EXPECT_EQ(p.buffers.size(), q.buffers.size());
    EXPECT_EQ(peak(p, a), peak(q, b));
  }
}

TEST(Plan, AResidualForkCostsNoSumAndNoCopy) {
  Net net;
  const TensorId skip = net.then("a", toy::weighted());
  net.then("b", toy::weighted());
  const TensorId branch = net.then("c", toy::weighted());
  net.join("add", toy::addition(), branch, skip);
  net.then("d", toy::weighted());
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(4, 4, GradientMode::full_batch));
  EXPECT_EQ(count(program, program.step, Pass::add_gradient), 0);
  EXPECT_EQ(count(program, program.step, Pass::sum_gradients), 0);
  // One gradient each for d, c's input and b's input ... the sum's serves add, c and the skip.
  EXPECT_EQ(count(program, Holds::tensor_gradient) / 2, 3u);
  // The branch's last backward adds to the skip's share.
  int accumulating = 0;
  for (const Operand& operand : program.operands) {
    accumulating += operand.role == Role::input_gradient && operand.write == Write::accumulate;
  }
  EXPECT_EQ(accumulating / 2, 1);
}

TEST(Plan, AGradientSharedByTwoIsNotWrittenOver) {
  // The branch's backward could work in place, but the skip still needs the same memory.
  Net net;
  const TensorId skip = net.then("a", toy::weighted());
  const TensorId branch =
      net.then("r", toy::layer({.backward_in_place = true, .reads_output = true}));
  net.join("add", toy::addition(), branch, skip);
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  // r: an own share of a's gradient would be overwritten in shared memory, so it's written apart
  // and then one of the two is added to the other.
  EXPECT_EQ(count(program, program.step, Pass::add_gradient), 1);
  for (const Exec& exec : program.execs) {
    if (exec.pass != Pass::backward || tape.node(exec.node).name != "r") continue;
    BufferId from = kNoBuffer, to = kNoBuffer;
    for (const Operand& operand : program.operands_of(exec)) {
      if (operand.role == Role::output_gradient) from = operand.buffer;
      if (operand.role == Role::input_gradient) to = operand.buffer;
    }
    EXPECT_NE(from, to);
  }
}

TEST(Plan, ATensorAddedToItselfGetsTwiceTheGradient) {
  Net net;
  const TensorId a = net.then("a", toy::weighted());
  net.join("add", toy::addition(), a, a);
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  EXPECT_EQ(count(program, program.step, Pass::sum_gradients), 1);
}

TEST(Plan, LayersThatCannotAccumulateGetATemporaryAndASum) {
  Net net;
  const TensorId a = net.then("a", toy::weighted());
  const auto stubborn = [] {
    return toy::layer({.accumulates = false, .reads_inputs = {true}}, 5);
  };
  const TensorId inputs[] = {a};
  const TensorId left = net.tape.record("left", stubborn(), inputs);
  const TensorId right = net.tape.record("right", stubborn(), inputs);
  net.join("add", toy::addition(), left, right);
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(4, 2, GradientMode::per_step));
  for (const Exec& exec : program.execs) {
    if (exec.pass != Pass::backward || tape.node(exec.node).name == "a") continue;
    for (const Operand& operand : program.operands_of(exec)) {
      if (operand.writes) {
        EXPECT_EQ(operand.write, Write::overwrite);
      }
    }
  }
  // By micro-step: a's gradient gets the second share; from the second micro-step on also both
  // weights.
  EXPECT_EQ(count(program, program.step, Pass::add_gradient), 1 + 3);
}

TEST(Plan, SharedWeightsCountOnce) {
  Net net;
  net.then("a", toy::weighted());
  const TensorId first = net.end;
  const TensorId inputs[] = {first};
  net.end = net.tape.record("again", toy::weighted(), inputs, NodeId{0});
  const Tape tape = net.finish();
  EXPECT_EQ(tape.parameter_count(), 5);
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  EXPECT_EQ(count(program, Holds::parameter_gradient) / 2, 1u);
  std::vector<Write> writes;
  for (const Operand& operand : program.operands) {
    if (operand.role == Role::parameter_gradient && operand.writes) writes.push_back(operand.write);
  }
  EXPECT_EQ(writes[0], Write::overwrite);
  EXPECT_EQ(writes[1], Write::accumulate);
}

TEST(Plan, SharedWeightsMustFit) {
  Net net;
  net.then("a", toy::weighted());
  const TensorId inputs[] = {net.end};
  EXPECT_THROW(net.tape.record("b", toy::layer({.reads_inputs = {true}}, 6), inputs, NodeId{0}),
               ShapeError);
}

TEST(Plan, MicroBatchesAndTheirWeights) {
  Net net;
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  const Program program =
      plan(tape, toy::profile(), options(10, 3, GradientMode::accumulated_graph));
  std::vector<std::int64_t> samples, first;
  double weight = 0;
  for (const Instruction& instruction : program.step.code) {
    if (instruction.op != Instruction::Op::exec) continue;
    const Exec& exec = program.execs[instruction.index];
    if (exec.pass != Pass::read_loss) continue;
    samples.push_back(exec.samples);
    first.push_back(exec.first_sample);
    weight += exec.weight;
  }
  EXPECT_EQ(samples, (std::vector<std::int64_t>{3, 3, 3, 1}));
  EXPECT_EQ(first, (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_DOUBLE_EQ(weight, 1.0);
}

TEST(Plan, PerStepRepeatsTheMiddle) {
  Net net;
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  const auto rounds = [&](std::int64_t batch, std::int64_t micro) {
    const Program program =
        plan(tape, toy::profile(), options(batch, micro, GradientMode::per_step));
    std::int64_t found = 0;
    for (const Instruction& instruction : program.step.code) {
      if (instruction.op == Instruction::Op::repeat_begin) found += instruction.count;
    }
    return found;
  };
  EXPECT_EQ(rounds(3, 3), 0);
  EXPECT_EQ(rounds(6, 3), 1);
  EXPECT_EQ(rounds(7, 3), 1);
  EXPECT_EQ(rounds(30, 3), 9);
  EXPECT_EQ(rounds(31, 3), 9);
}

TEST(Plan, OptimizerStateIsBornInTheFirstUpdate) {
  Net net;
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  for (const auto& [kind, momentum, buffers] :
       {std::tuple{OptimizerSpec::Kind::none, 0.0, 0}, std::tuple{OptimizerSpec::Kind::sgd, 0.0, 0},
        std::tuple{OptimizerSpec::Kind::sgd, 0.9, 1},
        std::tuple{OptimizerSpec::Kind::adam, 0.0, 2}}) {
    PlanOptions o = options(2, 2, GradientMode::full_batch);
    o.optimizer.kind = kind;
    o.optimizer.momentum = momentum;
    const Program program = plan(tape, toy::profile(), o);
    EXPECT_EQ(program.optimizer_states.size(), static_cast<std::size_t>(buffers));
    EXPECT_EQ(persistent_bytes(program), 20u + 20u * static_cast<std::size_t>(buffers));
    for (const Instruction& instruction : program.step.code) {
      if (instruction.op == Instruction::Op::allocate) {
        EXPECT_NE(program.buffers[instruction.index].category, Category::optimizer_state);
      }
    }
  }
}

TEST(Plan, WithoutGradientsNothingIsKept) {
  Net net;
  for (int i = 0; i < 10; ++i) net.then("a" + std::to_string(i), toy::weighted());
  const Tape tape = net.finish();
  PlanOptions o = options(4, 4, GradientMode::full_batch);
  o.run = RunMode::no_grad;
  const Program program = plan(tape, toy::profile(), o);
  EXPECT_EQ(peak(program, tape), 200u + 32 + 2 * 160);
  EXPECT_EQ(saved_bytes(program, tape).total, 0u);
}

TEST(Plan, WhatDoesNotReachTheLossHasNoBackward) {
  Net net;
  const TensorId a = net.then("a", toy::weighted());
  net.then("unused", toy::weighted());
  net.end = a;
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  EXPECT_EQ(program.step.gradients[1], kNoBuffer);
  EXPECT_EQ(count(program, program.step, Pass::backward), 2);
  EXPECT_EQ(count(program, program.step, Pass::forward), 3);
  EXPECT_NO_THROW(peak(program, tape));
}

TEST(Plan, AnInputThatNobodyReadsIsNotFed) {
  Net net;
  net.tape.input("idle", Shape{1000});
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  const Program program = plan(tape, toy::profile(), options(1, 1, GradientMode::full_batch));
  EXPECT_EQ(count(program, program.step, Pass::feed), 2);
}

TEST(Plan, RefusesSenselessBatches) {
  Net net;
  net.then("a", toy::weighted());
  const Tape tape = net.finish();
  EXPECT_THROW(plan(tape, toy::profile(), options(4, 5, GradientMode::per_step)), Error);
  EXPECT_THROW(plan(tape, toy::profile(), options(4, 0, GradientMode::per_step)), Error);
  EXPECT_THROW(plan(tape, toy::profile(), options(0, 0, GradientMode::full_batch)), Error);
  const std::int64_t huge = std::int64_t{1} << 60;
  EXPECT_THROW(plan(tape, toy::profile(), options(huge, huge, GradientMode::full_batch)), Error);
}

TEST(Plan, EveryBufferIsBornAndFreedOnce) {
  Net net;
  const TensorId skip = net.then("a", toy::weighted());
  net.then("r", toy::rectifier());
  const TensorId branch = net.then("b", toy::weighted());
  net.join("add", toy::addition(), branch, skip);
  const Tape tape = net.finish();
  for (GradientMode mode : kModes) {
    PlanOptions o = options(7, 2, mode);
    o.optimizer = {.kind = OptimizerSpec::Kind::adam};
    const Program program = plan(tape, toy::profile(), o);
    const std::vector<Lifetime> lives = lifetimes(program, 2);
    EXPECT_EQ(lives.size(), program.buffers.size());
    for (const Lifetime& life : lives) EXPECT_LT(life.begin, life.end);
    EXPECT_LE(lower_bound(lives, false), lower_bound(lives, true));
    EXPECT_EQ(lower_bound(lives, false), peak(program, tape));
  }
}

}  // namespace
}  // namespace arenagrad
