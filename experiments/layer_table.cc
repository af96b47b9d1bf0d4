#include "experiments/layer_table.h"

#include <algorithm>
#include <limits>
#include <set>

namespace arenagrad {
namespace {

/// Saturates: a spec may be sound and its cost beyond what 64 bits count.
std::int64_t times(std::int64_t a, std::int64_t b, bool& overflow) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  overflow = true;
  return std::numeric_limits<std::int64_t>::max();
}

std::int64_t plus(std::int64_t a, std::int64_t b, bool& overflow) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  overflow = true;
  return std::numeric_limits<std::int64_t>::max();
}

/// What each node allocates in one recorded forward and its backward.
void add_buffers(const Experiment& experiment, std::vector<LayerRow>& rows) {
  const auto& program = experiment.program;
  for (const auto& instruction : program.first_step.code) {
    if (instruction.op != Instruction::Op::allocate) continue;
    const auto& buffer = program.buffers[instruction.index];
    if (buffer.node == kNoNode) continue;
    auto& row = rows[index(buffer.node)];
    if (buffer.holds == Holds::workspace) row.workspace = std::max(row.workspace, buffer.bytes);
    // Micro-batches repeat; the first one is the largest.
    if (buffer.holds == Holds::tensor && buffer.category == Category::activation)
      row.output_bytes = std::max(row.output_bytes, buffer.bytes);
  }
}

}  // namespace

LayerTable layer_table(const Experiment& experiment) {
  const auto& tape = experiment.model->tape;
  const auto& options = experiment.settings.plan;
  LayerTable table;
  table.samples = options.mode == GradientMode::full_batch ? options.batching.batch
                                                           : options.batching.samples(0);
  std::set<ParameterId> counted;
  for (const auto& node : tape.nodes()) {
    LayerRow row;
    row.name = node.name;
    row.op = node.layer->op();
    row.output = tape.tensor(node.output).shape;
    row.multiply_adds = times(node.multiply_adds, table.samples, table.overflow);
    for (const auto id : node.parameters)
      if (counted.insert(id).second) row.parameters += tape.parameter(id).shape.elements();
    table.rows.push_back(std::move(row));
  }
  add_buffers(experiment, table.rows);
  const auto saved = saved_bytes(experiment.program, tape);
  for (std::size_t i = 0; i < saved.by_node.size(); ++i) table.rows[i].saved = saved.by_node[i];

  table.total.name = "total";
  for (const auto& row : table.rows) {
    table.total.parameters += row.parameters;
    table.total.multiply_adds = plus(table.total.multiply_adds, row.multiply_adds, table.overflow);
    table.total.output_bytes += row.output_bytes;
    table.total.saved += row.saved;
    table.total.workspace = std::max(table.total.workspace, row.workspace);
  }
  return table;
}

}  // namespace arenagrad
