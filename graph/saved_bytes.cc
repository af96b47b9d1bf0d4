// What a forward keeps for its backward, found from the program alone: not the planner's own notes,
// so that the two can be checked against each other.
#include <algorithm>
#include <set>

#include "graph/program.h"

namespace arenagrad {
namespace {

bool counts(Category category) {
  return category == Category::input || category == Category::activation ||
         category == Category::stash;
}

/// By buffer: the last instruction at which a backward, or a forward run again for it, reads it,
/// and the first node that wants it.
struct Readers {
  std::vector<std::size_t> last;
  std::vector<NodeId> first_node;
};

Readers find_readers(const Program& program, const Section& section) {
  Readers readers{std::vector<std::size_t>(program.buffers.size(), 0),
                  std::vector<NodeId>(program.buffers.size(), kNoNode)};
  for (std::size_t at = 0; at < section.code.size(); ++at) {
    if (section.code[at].op != Instruction::Op::exec) continue;
    const Exec& exec = program.execs[section.code[at].index];
    if (exec.pass != Pass::backward && !exec.again) continue;
    for (const Operand& operand : program.operands_of(exec)) {
      if (operand.writes || !counts(program.buffer(operand.buffer).category)) continue;
      const std::size_t b = index(operand.buffer);
      readers.last[b] = at;
      readers.first_node[b] = std::min(readers.first_node[b], exec.node);
    }
  }
  return readers;
}

}  // namespace

SavedBytes saved_bytes(const Program& program, const Tape& tape) {
  const Section& section = program.step;
  const Readers readers = find_readers(program, section);
  SavedBytes best;
  std::set<BufferId> best_buffers, live;
  const auto look = [&](std::size_t at) {
    SavedBytes saved;
    std::set<std::pair<std::int32_t, std::int64_t>> micros;
    std::set<BufferId> buffers;
    std::size_t growing = 0;
    for (BufferId id : live) {
      if (readers.last[index(id)] <= at) continue;
      const Buffer& buffer = program.buffer(id);
      saved.total += buffer.bytes;
      (buffer.samples > 0 ? growing : saved.fixed) += buffer.bytes;
      if (buffer.samples > 0) micros.insert({buffer.micro, buffer.samples});
      buffers.insert(id);
    }
    // What holds a step's samples together (micro-batch -1) has them once more.
    for (const auto& [micro, samples] : micros) {
      if (micro >= 0 || micros.size() == 1) saved.samples += samples;
    }
    if (saved.samples > 0) saved.per_sample = growing / static_cast<std::size_t>(saved.samples);
    if (saved.total > best.total) {
      best = saved;
      best_buffers = std::move(buffers);
    }
  };

  // Live bytes only grow between two backwards: the last forward_end before one is enough.
  std::size_t pending = 0;
  for (std::size_t at = 0; at < section.code.size(); ++at) {
    const Instruction& instruction = section.code[at];
    switch (instruction.op) {
      case Instruction::Op::allocate:
        if (counts(program.buffers[instruction.index].category)) {
          live.insert(BufferId{instruction.index});
        }
        break;
      case Instruction::Op::free: live.erase(BufferId{instruction.index}); break;
      case Instruction::Op::mark:
        if (MarkKind{static_cast<std::uint8_t>(instruction.index)} == MarkKind::forward_end) {
          pending = at;
        } else if (MarkKind{static_cast<std::uint8_t>(instruction.index)} ==
                       MarkKind::backward_begin &&
                   pending > 0) {
          look(pending);
          pending = 0;
        }
        break;
      default: break;
    }
  }

  best.by_node.assign(tape.nodes().size(), 0);
  for (BufferId id : best_buffers) {
    best.by_node[index(readers.first_node[index(id)])] += program.buffer(id).bytes;
  }
  return best;
}

}  // namespace arenagrad
