// Writes one section of a program: instructions, execs, operands, and the buffers they speak of.
// Internal to the planner.
#pragma once

#include <initializer_list>
#include <span>

#include "graph/program.h"

namespace arenagrad {

class Emitter {
 public:
  Emitter(Program& program, Section& section) : program_(program), section_(section) {}

  /// Adds a buffer to the table without allocating it.
  BufferId declare(const Buffer& buffer);
  void allocate(BufferId id) { push(Instruction::Op::allocate, static_cast<std::uint32_t>(id)); }
  void free(BufferId id) { push(Instruction::Op::free, static_cast<std::uint32_t>(id)); }
  BufferId birth(const Buffer& buffer) {
    const BufferId id = declare(buffer);
    allocate(id);
    return id;
  }

  void exec(Exec exec, std::span<const Operand> operands);
  void mark(MarkKind kind) { push(Instruction::Op::mark, static_cast<std::uint32_t>(kind)); }

  /// Everything emitted between the two runs `rounds` times.
  std::size_t begin_repeat(std::int64_t rounds);
  void end_repeat(std::size_t begin);

  Program& program() { return program_; }
  Section& section() { return section_; }

 private:
  void push(Instruction::Op op, std::uint32_t index, std::int64_t count = 0) {
    section_.code.push_back({op, index, count});
  }

  Program& program_;
  Section& section_;
};

}  // namespace arenagrad
