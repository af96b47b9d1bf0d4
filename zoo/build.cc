#include "zoo/build.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "zoo/build_checks.h"
#include "zoo/hint.h"
#include "zoo/values.h"

namespace arenagrad {
namespace {

/// One use of a list of layers: of the whole model, a group, or one round of a block.
struct Frame {
  const LayerList& list;
  std::string prefix;                  // of full names: "layer1.0."
  const Bindings& bindings;            // of the block it is in
  std::optional<std::string> weights;  // prefix of the frame whose parameters it uses
  const JsonValue* weights_json;       // which said so
  std::size_t depth;
  std::vector<TensorId> slots{};  // by slot: see Entry::inputs
};

class Builder {
 public:
  Builder(const Spec& spec, Tape& tape) : spec_(spec), tape_(tape) {}

  TensorId unfold_model(std::span<const TensorId> inputs) {
    const Bindings none;
    Frame frame{spec_.layers, "", none, std::nullopt, nullptr, 0};
    const TensorId output = unfold(frame, inputs);
    refuse_unused(tape_, output, spec_, sources_);
    return output;
  }

 private:
  TensorId unfold(Frame& frame, std::span<const TensorId> inputs) {
    if (frame.depth > JsonDocument::kMaxDepth) {
      fail(*frame.list.json, "nested too deeply: expected at most " +
                                 std::to_string(JsonDocument::kMaxDepth) +
                                 " blocks and groups inside each other, found more");
    }
    frame.slots.assign(inputs.begin(), inputs.end());
    for (const Entry& entry : frame.list.entries) {
      spend(entry);
      std::vector<TensorId> in;
      in.reserve(entry.inputs.size());
      for (std::size_t slot : entry.inputs) in.push_back(frame.slots[slot]);
      const bool left_out = entry.when && !boolean_value(*entry.when, frame.bindings);
      // A layer that is left out lets its input through, under its own name.
      frame.slots.push_back(left_out   ? in.front()
                            : entry.op ? record(frame, entry, in)
                                       : unfold_rounds(frame, entry, in));
    }
    if (!frame.prefix.empty()) scopes_.insert(frame.prefix);
    return frame.slots.back();
  }

  void spend(const Entry& entry) {
    layers_ += 1;
    references_ += static_cast<std::int64_t>(entry.inputs.size());
    if (layers_ > kMostLayers) {
      fail(*entry.json, "too many layers once blocks and repeats are unfolded: expected at most " +
                            std::to_string(kMostLayers) + ", found more");
    }
    if (references_ > kMostReferences) {
      fail(*entry.json,
           "too many references once blocks and repeats are unfolded: expected at "
           "most " +
               std::to_string(kMostReferences) + ", found more");
    }
  }

  TensorId unfold_rounds(const Frame& frame, const Entry& entry, std::vector<TensorId> in) {
    const std::int64_t rounds =
        entry.repeat ? integer_value(*entry.repeat, frame.bindings, 1, kMostLayers) : 1;
    const bool shared = entry.shared && boolean_value(*entry.shared, frame.bindings);
    const std::string name = frame.prefix + entry.name + ".";
    std::optional<std::string> weights;
    const JsonValue* weights_json = entry.weights ? entry.weights : frame.weights_json;
    if (entry.weights) {
      weights = find_scope(frame, *entry.weights);
    } else if (frame.weights) {
      weights = *frame.weights + entry.name + ".";
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::string number = entry.repeat ? std::to_string(round) + "." : "";
      std::optional<std::string> source;
      if (weights) source = *weights + number;
      if (shared && round > 0) source = name + "0.";
      // A group sees the parameters of the block that it stands in.
      const Bindings own = entry.group ? Bindings() : bind(frame, entry, round == 0);
      Frame inner{*entry.body,
                  name + number,
                  entry.group ? frame.bindings : own,
                  source,
                  shared && round > 0 ? entry.shared : weights_json,
                  frame.depth + 1};
      in = {unfold(inner, in)};
    }
    if (entry.repeat) scopes_.insert(name);
    return in.front();
  }

  /// The parameters of one round: "first" (in the first one), else "with", else the default.
  Bindings bind(const Frame& frame, const Entry& entry, bool first_round) {
    Bindings bindings;
    for (const BlockParameter& parameter : entry.body->parameters) {
      const JsonValue* value = nullptr;
      if (first_round && entry.first) value = entry.first->find(parameter.name);
      if (!value && entry.with) value = entry.with->find(parameter.name);
      if (!value) value = parameter.standard;
      if (!value) {
        fail(*entry.json, "missing parameter: expected " + in_quotes(parameter.name) +
                              " in 'with' for block " + in_quotes(entry.body->block) +
                              ", found nothing");
      }
      bindings.push_back({parameter.name, parameter_value(*value, frame.bindings)});
    }
    return bindings;
  }

  TensorId record(const Frame& frame, const Entry& entry, std::span<const TensorId> in) {
    const Op& op = *entry.op;
    std::vector<ArgumentValue> values;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      const Argument& argument = op.arguments[i];
      values.push_back(entry.arguments[i]
                           ? argument_value(argument, *entry.arguments[i], frame.bindings)
                           : standard(op, argument));
    }
    const Arguments arguments(op.arguments, values);
    const std::string name = frame.prefix + entry.name;
    const std::optional<NodeId> weights =
        op.has_parameters ? weights_of(frame, entry) : std::nullopt;
    TensorId output;
    try {
      output = tape_.record(name, make(op, arguments, name), in, weights);
    } catch (const ContractError&) {
      throw;
    } catch (const Error& error) {
      fail(at_fault(frame, entry, arguments, in, weights.has_value()), error.what());
    }
    const NodeId node = tape_.tensor(output).producer;
    nodes_.emplace(name, node);
    sources_.push_back(entry.json);
    sizes_.add(tape_, node, *entry.json);
    return output;
  }

  /// The tape says which layer it is about; a layer that refuses its arguments doesn't know.
  static std::unique_ptr<Layer> make(const Op& op, const Arguments& arguments,
                                     const std::string& name) {
    try {
      return op.make(arguments);
    } catch (const ContractError&) {
      throw;
    } catch (const Error& error) {
      throw Error(std::string(error.what()) + ", in layer \"" + name + "\" (" +
                  std::string(op.name) + ")");
    }
  }

  ArgumentValue standard(const Op& op, const Argument& argument) const {
    if (argument.kind == ArgumentKind::init) {
      const auto rule = spec_.init.find(op.name);
      if (rule != spec_.init.end()) return rule->second;
    }
    return argument.standard;
  }

  const JsonValue& at_fault(const Frame& frame, const Entry& entry, const Arguments& arguments,
                            std::span<const TensorId> in, bool shares) const {
    std::vector<Shape> shapes;
    for (TensorId id : in) shapes.push_back(tape_.tensor(id).shape);
    const std::string_view key = entry.op->blame ? entry.op->blame(arguments, shapes) : "";
    if (const JsonValue* argument = entry.json->find(key)) return *argument;
    if (shares && key.empty()) return entry.weights ? *entry.weights : *frame.weights_json;
    return *entry.json;
  }

  /// The earlier layer whose parameters this one uses, if any.
  std::optional<NodeId> weights_of(const Frame& frame, const Entry& entry) const {
    if (entry.weights) {
      const std::string& name = entry.weights->text;
      for (const std::string& full : {frame.prefix + name, name}) {
        const auto found = nodes_.find(full);
        if (found != nodes_.end()) return found->second;
      }
      std::vector<std::string_view> known;
      for (const auto& [known_name, node] : nodes_) known.push_back(known_name);
      std::ranges::sort(known);
      fail(*entry.weights, "no weights to share: expected an earlier layer's name, found " +
                               in_quotes(name) + hint(name, known));
    }
    if (!frame.weights) return std::nullopt;
    const auto found = nodes_.find(*frame.weights + entry.name);
    if (found != nodes_.end()) return found->second;
    fail(*frame.weights_json, "no weights to share: expected a layer " +
                                  in_quotes(*frame.weights + entry.name) + " for " +
                                  in_quotes(frame.prefix + entry.name) + ", found none");
  }

  std::string find_scope(const Frame& frame, const JsonValue& json) const {
    for (const std::string& full : {frame.prefix + json.text + ".", json.text + "."}) {
      if (scopes_.contains(full)) return full;
    }
    fail(json, "no weights to share: expected the name of an earlier block or group, found " +
                   in_quotes(json.text));
  }

  const Spec& spec_;
  Tape& tape_;
  std::unordered_map<std::string, NodeId> nodes_;  // by full name
  std::unordered_set<std::string> scopes_;         // prefixes of blocks and groups already unfolded
  std::vector<const JsonValue*> sources_;          // by node
  SizeCheck sizes_;
  std::int64_t layers_ = 0, references_ = 0;
};

}  // namespace

void build(const Spec& spec, const ModelOptions& options, Model& model) {
  if (options.input && spec.inputs.size() != 1) {
    fail(*spec.inputs[0].json->parent,
         "--input replaces the shape of a single input: expected "
         "one input, found " +
             std::to_string(spec.inputs.size()));
  }
  for (const SpecInput& input : spec.inputs) {
    model.samples.push_back(model.tape.input(input.name, checked_shape(input, options)));
  }
  const JsonValue& root = *spec.layers.json;
  model.outputs = Builder(spec, model.tape).unfold_model(model.samples);
  const TapeTensor& outputs = model.tape.tensor(model.outputs);
  if (outputs.shape != Shape{spec.classes}) {
    fail(*root.find("classes"), "the last layer has to give one number per class: expected shape " +
                                    std::to_string(spec.classes) + ", found " +
                                    outputs.shape.text() + " from layer " +
                                    in_quotes(outputs.name));
  }
  model.classes = spec.classes;
  const TensorId labels = model.tape.labels("labels", spec.classes);
  const TensorId operands[] = {model.outputs, labels};
  const TensorId loss = model.tape.record("loss", spec.loss.layer(), operands);
  model.loss = model.tape.tensor(loss).producer;
}

}  // namespace arenagrad
