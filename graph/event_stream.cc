#include "graph/event_stream.h"

namespace arenagrad {

const Section* EventStream::section() const {
  if (part_ == 0) return &program_.setup;
  if (part_ == 1 && steps_ >= 1) return &program_.first_step;
  if (part_ <= steps_) return &program_.step;
  return part_ == steps_ + 1 ? &program_.teardown : nullptr;
}

std::optional<Event> EventStream::next() {
  while (const Section* here = section()) {
    while (at_ < here->code.size()) {
      const Instruction& instruction = here->code[at_++];
      switch (instruction.op) {
        case Instruction::Op::repeat_begin: rounds_left_ = instruction.count; break;
        case Instruction::Op::repeat_end:
          if (--rounds_left_ > 0) at_ = instruction.index + 1;
          break;
        case Instruction::Op::allocate:
        case Instruction::Op::free: {
          const Buffer& buffer = program_.buffers[instruction.index];
          return Event{.kind = instruction.op == Instruction::Op::allocate ? Event::Kind::allocate
                                                                           : Event::Kind::free,
                       .category = buffer.category,
                       .buffer = BufferId{instruction.index},
                       .requested = buffer.bytes};
        }
        default: break;
      }
    }
    at_ = 0;
    ++part_;
  }
  return std::nullopt;
}

}  // namespace arenagrad
