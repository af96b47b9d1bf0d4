#include "graph/compute.h"

namespace arenagrad {
namespace {

Tensor buffer_view(const ExecView& view, const Operand& operand) {
  const Buffer& buffer = view.program.buffer(operand.buffer);
  return {view.buffers.address(operand.buffer), buffer.shape, buffer.dtype, view.program.layout};
}

void initialise(const ExecView& view, const Operand& operand) {
  const Tensor tensor = buffer_view(view, operand);
  if (operand.role == Role::state) {
    view.backend.fill(tensor, view.tape.states()[view.exec.index].initial);
    return;
  }
  const Initializer& init = view.tape.parameters()[view.exec.index].init;
  const RandomStream stream{.seed = view.seed,
                            .purpose = RandomPurpose::initialisation,
                            .node = view.exec.index,
                            .step = 0,
                            .first_sample = 0};
  switch (init.kind) {
    case Initializer::Kind::constant: view.backend.fill(tensor, init.scale); break;
    case Initializer::Kind::uniform: view.backend.uniform(stream, init.scale, tensor); break;
    case Initializer::Kind::normal: view.backend.normal(stream, init.scale, tensor); break;
  }
}

double read_loss(const ExecView& view, const Operand& operand) {
  const Tensor tensor = buffer_view(view, operand);
  if (tensor.dtype == DType::f64) {
    double loss = 0;
    view.backend.copy_to_host(&loss, tensor);
    return view.exec.weight * loss;
  }
  float loss = 0;
  view.backend.copy_to_host(&loss, tensor);
  return view.exec.weight * static_cast<double>(loss);
}

void update(const ExecView& view, std::span<const Operand> operands) {
  const OptimizerSpec& o = view.program.options.optimizer;
  const auto tensor = [&](std::size_t i) {
    return i < operands.size() ? buffer_view(view, operands[i]) : Tensor{};
  };
  if (o.kind == OptimizerSpec::Kind::sgd) {
    view.backend.sgd({.learning_rate = o.learning_rate,
                      .momentum = o.momentum,
                      .weight_decay = o.weight_decay,
                      .nesterov = o.nesterov,
                      .first = view.step == 0},
                     tensor(0), tensor(1), tensor(2));
  } else {
    view.backend.adam({.learning_rate = o.learning_rate,
                       .beta1 = o.beta1,
                       .beta2 = o.beta2,
                       .eps = o.eps,
                       .weight_decay = o.weight_decay,
                       .decoupled = o.kind == OptimizerSpec::Kind::adamw,
                       .step = view.step + 1},
                      tensor(0), tensor(1), tensor(2), tensor(3));
  }
}

/// The micro-batch's rows within a tensor of the step's whole batch.
SliceProblem rows_of_batch(const ExecView& view, const Tensor& part, const Tensor& whole) {
  const std::int64_t sample = part.shape.elements() / view.exec.samples;
  return {.batch = 1,
          .channels = part.shape.elements(),
          .wide_channels = whole.shape.elements(),
          .begin = view.exec.first_sample * sample,
          .spatial = 1,
          .dtype = part.dtype};
}

void gather(const ExecView& view, const Tensor& whole, const Tensor& part) {
  view.backend.copy_into_slice(rows_of_batch(view, part, whole), part, whole);
}

void scatter(const ExecView& view, const Tensor& part, const Tensor& whole) {
  view.backend.copy_from_slice(rows_of_batch(view, part, whole), whole, part, Write::overwrite);
}

}  // namespace

double compute(const ExecView& view, Feed& feed) {
  const std::span<const Operand> operands = view.program.operands_of(view.exec);
  switch (view.exec.pass) {
    case Pass::initialise: initialise(view, operands[0]); break;
    case Pass::feed:
      feed.write(view.tape, TensorId{view.exec.index}, view.step,
                 view.program.options.batching.batch, view.exec.first_sample, view.backend,
                 buffer_view(view, operands[0]));
      break;
    case Pass::forward: run_forward(view); break;
    case Pass::read_loss: return read_loss(view, operands[0]);
    case Pass::backward: run_backward(view); break;
    case Pass::add_gradient:
      view.backend.add(buffer_view(view, operands[1]), buffer_view(view, operands[0]),
                       Write::accumulate);
      break;
    case Pass::sum_gradients:
      view.backend.sum(buffer_view(view, operands[1]), buffer_view(view, operands[2]),
                       buffer_view(view, operands[0]));
      break;
    case Pass::gather:
      gather(view, buffer_view(view, operands[0]), buffer_view(view, operands[1]));
      break;
    case Pass::scatter:
      scatter(view, buffer_view(view, operands[0]), buffer_view(view, operands[1]));
      break;
    case Pass::update: update(view, operands); break;
  }
  return 0;
}

void NoiseFeed::write(const Tape& tape, TensorId id, std::int64_t step, std::int64_t /*batch*/,
                      std::int64_t first_sample, Backend& backend, Tensor t) {
  const TapeTensor& tensor = tape.tensor(id);
  const RandomStream stream{
      .seed = seed_,
      .purpose = tensor.is_labels ? RandomPurpose::labels : RandomPurpose::noise,
      .node = static_cast<std::uint32_t>(id),
      .step = static_cast<std::uint32_t>(step),
      .first_sample = first_sample};
  if (tensor.is_labels) {
    backend.uniform_labels(stream, tensor.classes, t);
  } else {
    backend.normal(stream, 1.0, t);
  }
}

}  // namespace arenagrad
