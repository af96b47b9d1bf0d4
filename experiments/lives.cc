#include "experiments/lives.h"

namespace arenagrad {

Lives::Lives(const Program& program, const Tape& tape, std::int64_t steps)
    : program_(program), tape_(tape) {
  const auto append = [&](const Section& section) {
    for (const auto& instruction : section.code) code_.push_back(&instruction);
  };
  append(program.setup);
  append(program.first_step);
  if (steps > 1) append(program.step);
  teardown_ = static_cast<std::uint32_t>(code_.size());
  append(program.teardown);
}

std::string Lives::text(const Exec& exec) const {
  const auto node = [&] { return tape_.node(exec.node).name; };
  switch (exec.pass) {
    case Pass::initialise: return "setup";
    case Pass::feed: return "feed";
    case Pass::forward:
      return (exec.calibrates ? "calibration of "
              : exec.again    ? "second forward of "
                              : "forward of ") +
             node();
    case Pass::gather: return "gathering of " + tape_.tensor(TensorId{exec.index}).name;
    case Pass::scatter: return "backward of " + node();
    case Pass::read_loss: return "reading the loss";
    case Pass::backward:
    case Pass::add_gradient:
    case Pass::sum_gradients: return exec.node == kNoNode ? "backward" : "backward of " + node();
    case Pass::update: return "update of " + tape_.parameters()[exec.index].name;
  }
  return "";
}

std::string Lives::born(std::uint32_t time) const {
  for (auto at = time; at < code_.size(); ++at)
    if (code_[at]->op == Instruction::Op::exec) return text(program_.execs[code_[at]->index]);
  return "teardown";
}

std::string Lives::dies(std::uint32_t time) const {
  if (time >= teardown_) return "teardown";
  // A gradient that no optimizer reads dies after the end of backward, where it was read out.
  for (auto at = time; at-- > 0;) {
    const auto& instruction = *code_[at];
    if (instruction.op == Instruction::Op::exec) return text(program_.execs[instruction.index]);
    if (instruction.op == Instruction::Op::mark &&
        MarkKind{static_cast<std::uint8_t>(instruction.index)} == MarkKind::backward_end)
      return "end of backward";
  }
  return "setup";
}

}  // namespace arenagrad
