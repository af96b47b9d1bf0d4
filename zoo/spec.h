// A spec as read: its form is checked, every name is resolved, nothing is expanded yet and no shape
// is known. Points into its JSON document, from which errors take their place.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "zoo/json.h"
#include "zoo/ops.h"

namespace arenagrad {

/// Limits of what a spec may unfold to, so that repeats in repeats end in an error.
inline constexpr std::int64_t kMostLayers = 100'000;
inline constexpr std::int64_t kMostReferences = 1'000'000;

struct LayerList;

/// A line of "layers": one op, one use of a block, or a group of layers written in place.
struct Entry {
  const JsonValue* json = nullptr;
  std::string name;  // as given, else its place in the list: "0", "1", ...
  /// Slots of its scope: inputs of the scope first, then the entries before this one. Never empty.
  std::vector<std::size_t> inputs;

  const Op* op = nullptr;
  std::vector<const JsonValue*> arguments;  // in the order of op's table; null: left out

  const LayerList* body = nullptr;   // of a block or a group
  std::unique_ptr<LayerList> group;  // owns the body of a group
  const JsonValue* with = nullptr;   // parameters of a block
  const JsonValue* first = nullptr;  // what differs in the first round
  const JsonValue* repeat = nullptr;
  const JsonValue* shared = nullptr;  // all rounds use the first one's weights

  const JsonValue* when = nullptr;
  const JsonValue* weights = nullptr;
};

struct BlockParameter {
  std::string name;
  const JsonValue* standard;  // null: every use gives it
};

/// A scope of names: the whole model's layers, a block's, a group's.
struct LayerList {
  std::string block;                // name of the block; empty for a group or the whole model
  const JsonValue* json = nullptr;  // what holds "layers"
  std::vector<std::string> inputs;  // names
  std::vector<BlockParameter> parameters;
  std::vector<std::string_view> visible;  // names of parameters that can be used here
  std::vector<Entry> entries;             // never empty once read
};

struct SpecInput {
  std::string name;
  const JsonValue* json;
  std::vector<std::int64_t> dims;
};

/// The sum over samples, or one that couples them.
struct LossSpec {
  Reduction reduction = Reduction::mean;
  std::optional<CoupledLossOptions> coupled;
  std::unique_ptr<Layer> layer() const {
    return coupled ? coupled_loss(*coupled) : softmax_cross_entropy(reduction);
  }
};

struct Spec {
  std::string name, description;
  std::vector<SpecInput> inputs;
  std::int64_t classes = 0;
  std::map<std::string, InitRule, std::less<>> init;  // by op
  std::map<std::string, LayerList, std::less<>> blocks;
  LayerList layers;
  LossSpec loss;
};

/// Throws SpecError. The document has to outlive the spec.
Spec read_spec(const JsonDocument& document);

}  // namespace arenagrad
