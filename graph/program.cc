#include "graph/program.h"

namespace arenagrad {

std::uint64_t encode(const Position& position) {
  return static_cast<std::uint64_t>(position.step) << 34 |
         static_cast<std::uint64_t>(position.part) << 32 | position.instruction;
}

Position decode(std::uint64_t code) {
  return {.part = static_cast<Position::Part>(code >> 32 & 3),
          .step = static_cast<std::int64_t>(code >> 34),
          .instruction = static_cast<std::uint32_t>(code)};
}

const Section& section_of(const Program& program, Position::Part part) {
  switch (part) {
    case Position::Part::setup: return program.setup;
    case Position::Part::first_step: return program.first_step;
    case Position::Part::step: return program.step;
    case Position::Part::teardown: return program.teardown;
  }
  throw ContractError("no such part of a program");
}

Phase phase_of(const Exec& exec) {
  switch (exec.pass) {
    case Pass::initialise: return Phase::setup;
    case Pass::feed:
    case Pass::forward:
    case Pass::read_loss:
    case Pass::gather: return exec.again ? Phase::backward : Phase::forward;
    case Pass::backward:
    case Pass::add_gradient:
    case Pass::sum_gradients:
    case Pass::scatter: return Phase::backward;
    case Pass::update: return Phase::update;
  }
  throw ContractError("no such pass");
}

Place place_of(const Program& program, const Position& position) {
  const Section& section = section_of(program, position.part);
  check_contract(position.instruction < section.code.size(), "a position outside its section");
  const Instruction& instruction = section.code[position.instruction];
  Place place{.step = position.step};
  if (instruction.op == Instruction::Op::allocate || instruction.op == Instruction::Op::free) {
    place.buffer = BufferId{instruction.index};
    const Buffer& buffer = program.buffer(place.buffer);
    place.phase = buffer.phase;
    place.node = buffer.node;
  } else if (instruction.op == Instruction::Op::exec) {
    const Exec& exec = program.execs[instruction.index];
    place.node = exec.node;
    place.phase = phase_of(exec);
  }
  return place;
}

std::string describe_alike(const Program& program, const Tape& tape, BufferId id) {
  const Buffer& buffer = program.buffer(id);
  const auto parameter = [&] { return tape.parameters()[buffer.index].name; };
  const auto node = [&] { return tape.nodes()[buffer.index].name; };
  switch (buffer.holds) {
    case Holds::parameter: return parameter();
    case Holds::parameter_gradient: return parameter() + " gradient";
    case Holds::momentum: return parameter() + " momentum";
    case Holds::second_moment: return parameter() + " second moment";
    case Holds::state: return tape.states()[buffer.index].name;
    case Holds::tensor: {
      const TapeTensor& tensor = tape.tensors()[buffer.index];
      return tensor.name + (tensor.producer == kNoNode ? "" : " output");
    }
    case Holds::tensor_gradient: return tape.tensors()[buffer.index].name + " gradient";
    case Holds::stash: {
      const Needs& needs = program.needs[program.needs_of_node[buffer.index]];
      return node() + " " + std::string(needs.stashes[buffer.slot].name);
    }
    case Holds::workspace: return node() + " workspace";
    case Holds::temporary: return node() + " temporary gradient";
    case Holds::library: return "library workspace";
  }
  throw ContractError("no such thing to hold");
}

std::string describe(const Program& program, const Tape& tape, BufferId id, std::int64_t round) {
  const Buffer& buffer = program.buffer(id);
  std::string text = describe_alike(program, tape, id);
  if (buffer.micro >= 0 && program.options.batching.count() > 1 &&
      program.options.mode != GradientMode::full_batch) {
    text += " (micro-batch " + std::to_string(buffer.micro + round) + ")";
  }
  return text;
}

namespace {

void add_lifetimes(const Program& program, const Section& section, std::uint32_t& time,
                   std::vector<std::uint32_t>& place, std::vector<Lifetime>& lifetimes) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  for (const Instruction& instruction : section.code) {
    if (instruction.op == Instruction::Op::allocate) {
      check_contract(place[instruction.index] == kNone, "a buffer is born twice");
      place[instruction.index] = static_cast<std::uint32_t>(lifetimes.size());
      lifetimes.push_back({.id = BufferId{instruction.index},
                           .bytes = program.buffers[instruction.index].bytes,
                           .alignment = program.alignment,
                           .begin = time,
                           .end = time});
    } else if (instruction.op == Instruction::Op::free) {
      check_contract(place[instruction.index] != kNone, "a buffer is freed before its birth");
      lifetimes[place[instruction.index]].end = time;
    }
    ++time;
  }
}

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program, std::int64_t steps) {
  std::vector<Lifetime> result;
  std::vector<std::uint32_t> place(program.buffers.size(), ~std::uint32_t{0});
  std::uint32_t time = 0;
  add_lifetimes(program, program.setup, time, place, result);
  add_lifetimes(program, program.first_step, time, place, result);
  if (steps > 1) add_lifetimes(program, program.step, time, place, result);
  add_lifetimes(program, program.teardown, time, place, result);
  return result;
}

std::size_t persistent_bytes(const Program& program) {
  std::size_t bytes = program.library == kNoBuffer ? 0 : program.buffer(program.library).bytes;
  for (const auto* list : {&program.parameters, &program.states, &program.optimizer_states}) {
    for (BufferId id : *list) bytes += program.buffer(id).bytes;
  }
  return bytes;
}

}  // namespace arenagrad
