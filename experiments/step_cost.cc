#include "experiments/step_cost.h"

#include <limits>

namespace arenagrad {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

/// Neither is negative; so is the product then.
std::int64_t times_at_most(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

void add_at_most(std::int64_t& sum, std::int64_t term) {
  if (__builtin_add_overflow(sum, term, &sum)) sum = kMost;
}

}  // namespace

double StepCost::times() const {
  if (recomputed == 0) return 1;
  return static_cast<double>(multiply_adds) / static_cast<double>(multiply_adds - recomputed);
}

StepCost step_cost(const Section& step, const Program& program, const Tape& tape) {
  StepCost cost;
  std::int64_t rounds = 1;
  for (const auto& instruction : step.code) {
    using Op = Instruction::Op;
    if (instruction.op == Op::repeat_begin) rounds = instruction.count;
    if (instruction.op == Op::repeat_end) rounds = 1;
    if (instruction.op != Op::exec) continue;
    add_at_most(cost.kernel_calls, rounds);
    const Exec& exec = program.execs[instruction.index];
    if (exec.pass != Pass::forward && exec.pass != Pass::backward) continue;
    const auto forward = times_at_most(tape.node(exec.node).multiply_adds, exec.samples);
    const auto all = times_at_most(forward, rounds);
    add_at_most(cost.multiply_adds, exec.pass == Pass::backward ? times_at_most(2, all) : all);
    if (exec.again) add_at_most(cost.recomputed, all);
  }
  return cost;
}

}  // namespace arenagrad
