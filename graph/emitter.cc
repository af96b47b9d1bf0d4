#include "graph/emitter.h"

namespace arenagrad {

BufferId Emitter::declare(const Buffer& buffer) {
  program_.buffers.push_back(buffer);
  return BufferId{static_cast<std::uint32_t>(program_.buffers.size() - 1)};
}

void Emitter::exec(Exec exec, std::span<const Operand> operands) {
  exec.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  exec.operand_count = static_cast<std::uint32_t>(operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  program_.execs.push_back(exec);
  push(Instruction::Op::exec, static_cast<std::uint32_t>(program_.execs.size() - 1));
}

std::size_t Emitter::begin_repeat(std::int64_t rounds) {
  push(Instruction::Op::repeat_begin, 0, rounds);
  return section_.code.size() - 1;
}

void Emitter::end_repeat(std::size_t begin) {
  push(Instruction::Op::repeat_end, static_cast<std::uint32_t>(begin));
  section_.code[begin].index = static_cast<std::uint32_t>(section_.code.size());
}

}  // namespace arenagrad
