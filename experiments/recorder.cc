#include "experiments/recorder.h"

namespace arenagrad {
namespace {

HostTensor copy_out(std::string name, BufferId id, RunAccess& access) {
  const auto tensor = access.tensor(id);
  HostTensor copy{std::move(name), tensor.dtype, {}};
  copy.bytes.resize(access.program().buffer(id).bytes);
  access.backend().copy_to_host(copy.bytes.data(), tensor);
  return copy;
}

}  // namespace

void Recorder::after_exec(const Exec& exec, std::int64_t step, RunAccess& access) {
  if (step == 0) branches_.record(exec, access);
}

void Recorder::gradients_ready(std::int64_t step, const Section& section, RunAccess& access) {
  if (step != 0) return;
  branches_.finish();
  const auto parameters = access.tape().parameters();
  for (std::size_t i = 0; i < section.gradients.size(); ++i)
    if (section.gradients[i] != kNoBuffer)
      gradients_.push_back(copy_out(parameters[i].name, section.gradients[i], access));
}

void Recorder::after_step(std::int64_t step, double, RunAccess& access) {
  if (step != 0) return;
  const auto states = access.tape().states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto id = access.program().states[i];
    const auto dtype = access.program().buffer(id).dtype;
    if (dtype == DType::f32 || dtype == DType::f64)
      states_.push_back(copy_out(states[i].name, id, access));
  }
}

std::size_t Recorder::bytes() const {
  return bytes_of(gradients_) + bytes_of(states_) + branches_.bytes();
}

std::size_t recorded_bytes(const Program& program, const Tape& tape) {
  std::size_t total = 0;
  for (const auto id : program.parameters) total += program.buffer(id).bytes;
  for (const auto id : program.states)
    if (const auto& buffer = program.buffer(id);
        buffer.dtype == DType::f32 || buffer.dtype == DType::f64)
      total += buffer.bytes;
  return total + Branches::bytes_for(tape, program.options.batching.batch);
}

}  // namespace arenagrad
