// What a layer sees while it runs: views of exactly the buffers that its Exec names. Internal to
// the executor.
#pragma once

#include "graph/layer.h"
#include "graph/program.h"

namespace arenagrad {

/// Addresses of live buffers.
class BufferTable {
 public:
  virtual ~BufferTable() = default;
  virtual void* address(BufferId id) const = 0;
};

/// Both passes of one Exec; the layer gets it as ForwardContext or BackwardContext.
struct ExecView {
  const Program& program;
  const Tape& tape;
  const Exec& exec;  // with the round's micro-batch and first sample
  const BufferTable& buffers;
  Backend& backend;
  std::uint64_t seed;
  std::int64_t step;
};

void run_forward(const ExecView& view);
void run_backward(const ExecView& view);

}  // namespace arenagrad
