// A tape compiled for one batching, gradient mode, saved policy, optimizer and device profile:
// plain data that an executor interprets, with memory behind it or not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/offline.h"
#include "allocator/request.h"
#include "graph/ids.h"
#include "graph/options.h"
#include "graph/tape.h"

namespace arenagrad {

enum class Phase : std::uint8_t { setup, forward, backward, update, teardown };
constexpr std::string_view name(Phase phase) {
  constexpr std::string_view names[] = {"setup", "forward", "backward", "update", "teardown"};
  return names[static_cast<std::size_t>(phase)];
}

/// What a buffer holds, for names and reports.
enum class Holds : std::uint8_t {
  parameter,           // index: ParameterId
  parameter_gradient,  // index: ParameterId
  momentum,            // index: ParameterId; also Adam's first moment
  second_moment,       // index: ParameterId
  state,               // index: StateId
  tensor,              // index: TensorId: an activation, samples, labels
  tensor_gradient,     // index: TensorId
  stash,               // index: NodeId, slot: which
  workspace,           // index: NodeId
  temporary,           // index: NodeId: a gradient on its way to being added
  library,             // handed to a library for good; index: 0
};

/// One allocation. `bytes` is exact, never rounded.
struct Buffer {
  std::size_t bytes;
  Shape shape;  // whole tensor, batch included; for workspace {bytes} of u8
  DType dtype;
  Category category;
  Holds holds;
  Phase phase;               // in which it is born
  std::uint8_t slot = 0;     // of a stash
  std::uint32_t index;       // see Holds
  NodeId node = kNoNode;     // the node at work when it is born; kNoNode outside nodes
  std::int32_t micro = -1;   // micro-batch, -1 when it belongs to none
  std::int64_t samples = 0;  // bytes are proportional to this; 0: independent of the batch
};

enum class Pass : std::uint8_t {
  initialise,  // a parameter, state: its first value. index: ParameterId or StateId
  feed,        // write a micro-batch's samples or labels. index: TensorId
  forward,
  read_loss,  // hand the loss to the host, weighted
  backward,
  add_gradient,   // operand 0 (=|+=) operand 1
  sum_gradients,  // operand 0 = operand 1 + operand 2
  gather,         // operand 0's rows of this micro-batch = operand 1. index: TensorId
  scatter,        // operand 0 = operand 1's rows of this micro-batch. index: TensorId
  update,         // one parameter. index: ParameterId
};

enum class Role : std::uint8_t {
  input,
  output,
  parameter,
  state,
  stash,
  workspace,
  output_gradient,
  input_gradient,
  parameter_gradient,
  optimizer_state,
  kept,  // read by no kernel, kept alive by the policy
};

struct Operand {
  Role role;
  std::uint8_t slot = 0;  // which input, parameter, stash ...
  bool writes = false;
  Write write = Write::overwrite;  // when it writes a gradient
  BufferId buffer;
};

/// One kernel-level action.
struct Exec {
  Pass pass;
  NodeId node = kNoNode;
  std::uint32_t index = 0;        // see Pass
  std::int32_t micro = 0;         // micro-batch; inside a repeat, of its first round
  std::int64_t first_sample = 0;  // of that micro-batch in the step's batch
  std::int64_t samples = 0;
  double weight = 1;  // of this micro-batch's loss
  bool saves = true;
  bool updates_state = false;
  bool calibrates = false;  // statistics replace the running ones
  bool again = false;       // a forward run once more, inside backward
  RunMode run = RunMode::train;
  std::uint32_t first_operand = 0, operand_count = 0;
  std::uint32_t needs = 0;  // index into Program::needs; forward and backward
};

/// The phase that it belongs to. A forward run again is its backward's.
Phase phase_of(const Exec& exec);

/// A point that reports and timers look at.
enum class MarkKind : std::uint8_t {
  step_begin,
  forward_begin,  // of a micro-batch
  forward_end,    // of a micro-batch: what is saved is read at the last one
  backward_begin,
  backward_end,  // of a step: all gradients are complete
  update_begin,
  step_end,
};

struct Instruction {
  enum class Op : std::uint8_t { allocate, free, exec, mark, repeat_begin, repeat_end };
  Op op;
  std::uint32_t index;     // BufferId, exec, MarkKind; repeat_begin: position after its repeat_end
  std::int64_t count = 0;  // repeat_begin: rounds
};

struct Section {
  std::vector<Instruction> code;
  std::vector<BufferId>
      gradients;  // by ParameterId; complete at backward_end. Empty when no backward
  std::vector<BufferId> input_gradients;  // when asked for; in the order they are completed
};

struct Program {
  PlanOptions options;
  std::size_t alignment = 64;
  Layout layout = Layout::nchw;  // of every image
  std::vector<Buffer> buffers;
  std::vector<Operand> operands;
  std::vector<Exec> execs;
  std::vector<Needs> needs;
  /// setup once, first_step once, step (steps - 1) times, teardown once.
  Section setup, first_step, step, teardown;
  std::vector<BufferId> parameters;  // by ParameterId
  std::vector<BufferId> states;      // by StateId
  BufferId library = kNoBuffer;      // of Profile::library bytes; kNoBuffer where it asks for none
  std::vector<BufferId>
      optimizer_states;  // momentum or first moment, then second moment, by parameter
  std::vector<std::uint32_t>
      needs_of_node;            // by NodeId: index into `needs`, of a step's first forward
  std::vector<NodeId> coupled;  // nodes that couple samples in this mode

  const Buffer& buffer(BufferId id) const { return buffers[index(id)]; }
  std::span<const Operand> operands_of(const Exec& exec) const {
    return std::span(operands).subspan(exec.first_operand, exec.operand_count);
  }
};

/// "layer1.0.conv1 output", "fc.weight gradient", "conv1 workspace": with the micro-batch where
/// there are several: `round` is that of the repeat it is in.
std::string describe(const Program& program, const Tape& tape, BufferId id, std::int64_t round = 0);
/// The same without the micro-batch.
std::string describe_alike(const Program& program, const Tape& tape, BufferId id);

/// Where in a run an event happened. The executor marks the ledger with `encode`; a peak is read
/// back with `decode`.
struct Position {
  enum class Part : std::uint8_t { setup, first_step, step, teardown };
  Part part = Part::setup;
  std::int64_t step = 0;          // 0-based; meaningful inside steps
  std::uint32_t instruction = 0;  // in the section's code
};
std::uint64_t encode(const Position& position);
Position decode(std::uint64_t code);

/// What the instruction at a position is about: the phase, the node and the buffer at work there.
struct Place {
  Phase phase = Phase::setup;
  NodeId node = kNoNode;
  BufferId buffer = kNoBuffer;
  std::int64_t step = 0;
};
Place place_of(const Program& program, const Position& position);
const Section& section_of(const Program& program, Position::Part part);

/// Lifetimes over the horizon setup + first step + one steady step + teardown, in instructions; a
/// buffer inside a repeat appears once. With `steps` 1 the steady step is left out.
std::vector<Lifetime> lifetimes(const Program& program, std::int64_t steps);

/// Saved for backward: live at the end of a step's last recorded forward (per-step: of its largest
/// micro-batch) and read by, or kept for, a later backward; parameters and model state left out.
struct SavedBytes {
  std::size_t total = 0;
  std::size_t per_sample = 0;  // slope over the samples recorded at once
  std::size_t fixed = 0;
  std::int64_t samples = 0;          // recorded at once: total = per_sample * samples + fixed
  std::vector<std::size_t> by_node;  // by NodeId: bytes charged to the first node that saves them
};
SavedBytes saved_bytes(const Program& program, const Tape& tape);

/// Bytes that live from setup or the first update to teardown.
std::size_t persistent_bytes(const Program& program);

}  // namespace arenagrad
