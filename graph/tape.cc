#include "graph/tape.h"

#include <algorithm>

namespace arenagrad {

TensorId Tape::input(std::string name, Shape shape) {
  const TensorId id{static_cast<std::uint32_t>(tensors_.size())};
  tensors_.push_back({.name = std::move(name), .shape = shape});
  inputs_.push_back(id);
  return id;
}

TensorId Tape::labels(std::string name, std::int64_t classes) {
  const TensorId id = input(std::move(name), Shape{});
  tensors_.back().is_labels = true;
  tensors_.back().classes = classes;
  return id;
}

TensorId Tape::record(std::string name, std::unique_ptr<Layer> layer,
                      std::span<const TensorId> inputs, std::optional<NodeId> weights) {
  std::vector<Shape> shapes;
  shapes.reserve(inputs.size());
  for (TensorId id : inputs) shapes.push_back(tensor(id).shape);

  Signature signature = [&] {
    try {
      return layer->signature(shapes);
    } catch (const ShapeError& error) {
      throw ShapeError(std::string(error.what()) + ", in layer \"" + name + "\" (" +
                       std::string(layer->op()) + ")");
    }
  }();

  TapeNode node{.name = name,
                .layer = layer.get(),
                .inputs = {inputs.begin(), inputs.end()},
                .output = TensorId{static_cast<std::uint32_t>(tensors_.size())},
                .parameters = {},
                .states = {},
                .multiply_adds = signature.multiply_adds};
  if (weights) {
    const TapeNode& source = this->node(*weights);
    bool fits = source.layer->op() == layer->op() &&
                source.parameters.size() == signature.parameters.size();
    for (std::size_t i = 0; fits && i < source.parameters.size(); ++i) {
      fits = parameter(source.parameters[i]).shape == signature.parameters[i].shape;
    }
    if (!fits) {
      const auto shown = [](std::string_view op, auto&& shape_of, std::size_t count) {
        std::string text(op);
        for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? " with " : ", ") + shape_of(i);
        return text;
      };
      throw ShapeError(
          "shared weights don't fit: expected the parameters of a " +
          shown(
              layer->op(), [&](std::size_t i) { return signature.parameters[i].shape.text(); },
              signature.parameters.size()) +
          ", got those of \"" + source.name + "\", a " +
          shown(
              source.layer->op(),
              [&](std::size_t i) { return parameter(source.parameters[i]).shape.text(); },
              source.parameters.size()) +
          ", in layer \"" + name + "\"");
    }
    node.parameters = source.parameters;
    node.states = source.states;
  } else {
    for (ParameterSpec& spec : signature.parameters) {
      node.parameters.push_back(ParameterId{static_cast<std::uint32_t>(parameters_.size())});
      parameters_.push_back({name + "." + spec.name, spec.shape, spec.init});
    }
    for (StateSpec& spec : signature.states) {
      node.states.push_back(StateId{static_cast<std::uint32_t>(states_.size())});
      states_.push_back({name + "." + spec.name, spec.shape, spec.dtype, spec.initial});
    }
  }

  tensors_.push_back({.name = name,
                      .shape = signature.output,
                      .producer = NodeId{static_cast<std::uint32_t>(nodes_.size())}});
  nodes_.push_back(std::move(node));
  layers_.push_back(std::move(layer));
  return nodes_.back().output;
}

std::optional<NodeId> Tape::find_node(std::string_view name) const {
  const auto found = std::ranges::find(nodes_, name, &TapeNode::name);
  if (found == nodes_.end()) return std::nullopt;
  return NodeId{static_cast<std::uint32_t>(found - nodes_.begin())};
}

bool Tape::has_loss() const {
  return std::ranges::any_of(nodes_, [](const TapeNode& node) { return node.layer->is_loss(); });
}

NodeId Tape::loss() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].layer->is_loss()) return NodeId{static_cast<std::uint32_t>(i)};
  }
  throw ContractError("a tape without a loss");
}

std::int64_t Tape::parameter_count() const {
  std::int64_t count = 0;
  for (const TapeParameter& parameter : parameters_) count += parameter.shape.elements();
  return count;
}

}  // namespace arenagrad
