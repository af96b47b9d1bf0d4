// A network as its forward pass records it: nodes in order, shapes per sample (the batch dimension
// is open), no device, no pointers, no data.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/ids.h"
#include "graph/layer.h"

namespace arenagrad {

struct TapeTensor {
  std::string name;           // its producer's, or the input's
  Shape shape;                // per sample
  NodeId producer = kNoNode;  // kNoNode: fed from outside
  bool is_labels = false;     // i64 labels
  std::int64_t classes = 0;   // labels only
};

struct TapeParameter {
  std::string name;  // "layer1.0.conv1.weight"
  Shape shape;
  Initializer init;
};

struct TapeState {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;
  double initial;
};

struct TapeNode {
  std::string name;
  const Layer* layer;  // owned by the tape
  std::vector<TensorId> inputs;
  TensorId output;
  std::vector<ParameterId> parameters;  // shared by several nodes when names are shared
  std::vector<StateId> states;
  std::int64_t multiply_adds;  // per sample
};

class Tape {
 public:
  TensorId input(std::string name, Shape shape);
  TensorId labels(std::string name, std::int64_t classes);

  /// Appends a node. `weights`: record with the parameters and state of that earlier node, which
  /// has to be of the same op with the same parameter shapes. Throws ShapeError.
  TensorId record(std::string name, std::unique_ptr<Layer> layer, std::span<const TensorId> inputs,
                  std::optional<NodeId> weights = std::nullopt);

  std::span<const TapeNode> nodes() const { return nodes_; }
  std::span<const TapeTensor> tensors() const { return tensors_; }
  std::span<const TapeParameter> parameters() const { return parameters_; }
  std::span<const TapeState> states() const { return states_; }
  std::span<const TensorId> inputs() const { return inputs_; }  // samples and labels, as recorded

  const TapeNode& node(NodeId id) const { return nodes_[index(id)]; }
  const TapeTensor& tensor(TensorId id) const { return tensors_[index(id)]; }
  const TapeParameter& parameter(ParameterId id) const { return parameters_[index(id)]; }
  const TapeState& state(StateId id) const { return states_[index(id)]; }
  std::optional<NodeId> find_node(std::string_view name) const;

  /// The loss node; throws ContractError if the tape has none.
  NodeId loss() const;
  bool has_loss() const;

  std::int64_t parameter_count() const;  // elements; shared ones once

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<TapeNode> nodes_;
  std::vector<TapeTensor> tensors_;
  std::vector<TapeParameter> parameters_;
  std::vector<TapeState> states_;
  std::vector<TensorId> inputs_;
};

}  // namespace arenagrad
