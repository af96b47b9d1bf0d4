#include "zoo/spec_layers.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "zoo/fields.h"
#include "zoo/hint.h"
#include "zoo/values.h"

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;
using Keys = std::vector<std::string_view>;

constexpr std::array<std::string_view, 4> kCommonKeys{"name", "in", "when", "description"};
constexpr std::array<std::string_view, 4> kRepeatKeys{"weights", "repeat", "shared", "layers"};

Keys keys_of(const Op& op) {
  Keys keys{"op"};
  for (const Argument& argument : op.arguments) keys.push_back(argument.key);
  if (op.has_parameters) keys.push_back("weights");
  keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
  return keys;
}

Keys all_keys() {
  Keys keys{"block", "with", "first"};
  keys.insert(keys.end(), kRepeatKeys.begin(), kRepeatKeys.end());
  for (const Op& op : ops()) {
    for (std::string_view key : keys_of(op)) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

bool has_expression(const JsonValue& json) {
  return is_expression(json) ||
         (json.is(Kind::array) &&
          std::ranges::any_of(json.items, [](auto* item) { return is_expression(*item); }));
}

class LayerReader {
 public:
  LayerReader(const Spec& spec, LayerList& list) : spec_(spec), list_(list) {}

  void read() {
    constexpr std::string_view expected = "a list of one or more layers";
    const JsonValue& layers = required(*list_.json, "layers", expected);
    if (!layers.is(Kind::array) || layers.items.empty()) fail_expected(layers, expected);
    for (std::size_t i = 0; i < list_.inputs.size(); ++i) slots_[list_.inputs[i]] = i;
    list_.entries.resize(layers.items.size());
    for (std::size_t i = 0; i < layers.items.size(); ++i) name_entry(i, *layers.items[i]);
    for (here_ = 0; here_ < list_.entries.size(); ++here_) read_entry(list_.entries[here_]);
  }

 private:
  std::size_t slot_of_entry(std::size_t i) const { return list_.inputs.size() + i; }

  /// All names come first, so that a reference to a later layer can be told from a wrong one.
  void name_entry(std::size_t i, const JsonValue& json) {
    require_object(json, "a layer: an object with \"op\", \"block\" or \"layers\"");
    Entry& entry = list_.entries[i];
    entry.json = &json;
    const JsonValue* name = json.find("name");
    entry.name = name ? string_of(*name, "a name") : std::to_string(i);
    if (name) check_name(*name, entry.name, "layer name");
    const JsonValue& where = name ? *name : json;
    const bool whole_model = list_.block.empty() && !list_.json->parent;
    if (whole_model && (entry.name == "labels" || entry.name == "loss")) {
      fail(where, in_quotes(entry.name) + " is reserved: expected another name");
    }
    const auto [before, is_new] = slots_.emplace(entry.name, slot_of_entry(i));
    if (is_new) return;
    const bool is_input = before->second < list_.inputs.size();
    fail(where,
         "duplicate layer name: expected a name used once, found " + in_quotes(entry.name) + " " +
             (is_input
                  ? "which is an input"
                  : "at " + list_.entries[before->second - list_.inputs.size()].json->pointer() +
                        " too"));
  }

  void read_entry(Entry& entry) {
    const JsonValue& json = *entry.json;
    const JsonValue* op = json.find("op");
    const JsonValue* block = json.find("block");
    const JsonValue* layers = json.find("layers");
    if (!op && !block && !layers) {
      refuse_unknown_keys(json, all_keys(), "a layer");
      required(json, "op", "an op's name (or \"block\", or \"layers\")");
    }
    if ((op != nullptr) + (block != nullptr) + (layers != nullptr) > 1) {
      fail(json, "expected one of 'op', 'block' and 'layers', found more");
    }
    check_description(json);
    if (op) read_op(entry, *op);
    if (block) read_block(entry, *block);
    if (layers) read_group(entry);

    entry.weights = json.find("weights");
    if (entry.weights) string_of(*entry.weights, "the name of an earlier layer");
    entry.when = json.find("when");
    if (entry.when) check(*entry.when, [](auto& v) { boolean_value(v, {}); });
    read_inputs(entry);
  }

  void read_op(Entry& entry, const JsonValue& json) {
    const std::string& name = string_of(json, "an op's name");
    entry.op = find_op(name);
    if (!entry.op) {
      Keys known;
      for (const Op& op : ops()) known.push_back(op.name);
      fail(json,
           "unknown op: expected one of the ops, found " + in_quotes(name) + hint(name, known));
    }
    refuse_unknown_keys(*entry.json, keys_of(*entry.op), name);
    for (const Argument& argument : entry.op->arguments) {
      const JsonValue* value = entry.json->find(argument.key);
      if (!value && argument.required) required(*entry.json, argument.key, argument.expected());
      entry.arguments.push_back(value);
      if (value) check(*value, [&](auto& v) { argument_value(argument, v, {}); });
    }
  }

  void read_block(Entry& entry, const JsonValue& json) {
    const std::string& name = string_of(json, "a block's name");
    const auto found = spec_.blocks.find(name);
    if (found == spec_.blocks.end()) {
      Keys known;
      for (const auto& [known_name, block] : spec_.blocks) known.push_back(known_name);
      fail(json, "unknown block: expected one of \"blocks\", found " + in_quotes(name) +
                     hint(name, known));
    }
    entry.body = &found->second;
    Keys keys{"block", "with", "first", "weights", "repeat", "shared"};
    keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
    refuse_unknown_keys(*entry.json, keys, "a layer made of a block");
    entry.with = read_parameters(entry, "with");
    entry.first = read_parameters(entry, "first");
    read_repeat(entry);
  }

  const JsonValue* read_parameters(const Entry& entry, std::string_view key) {
    const JsonValue* values = entry.json->find(key);
    if (!values) return nullptr;
    require_object(*values, "an object with the block's parameters");
    Keys known;
    for (const BlockParameter& parameter : entry.body->parameters) known.push_back(parameter.name);
    for (const JsonValue* value : values->items) {
      if (std::ranges::find(known, value->key) == known.end()) {
        fail(*value, "unknown parameter " + in_quotes(value->key) + " of block " +
                         in_quotes(entry.body->block) + hint(value->key, known));
      }
      check(*value, [](auto& v) { parameter_value(v, {}); });
    }
    return values;
  }

  void read_group(Entry& entry) {
    Keys keys(kRepeatKeys.begin(), kRepeatKeys.end());
    keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
    refuse_unknown_keys(*entry.json, keys, "a group of layers");
    read_repeat(entry);
    entry.group = std::make_unique<LayerList>();
    entry.group->json = entry.json;
    entry.group->inputs = {"input"};
    entry.group->visible = list_.visible;
    read_layers(spec_, *entry.group);
    entry.body = entry.group.get();
  }

  void read_repeat(Entry& entry) {
    entry.repeat = entry.json->find("repeat");
    entry.shared = entry.json->find("shared");
    if (entry.repeat) check(*entry.repeat, [](auto& v) { integer_value(v, {}, 1, kMostLayers); });
    if (entry.shared) check(*entry.shared, [](auto& v) { boolean_value(v, {}); });
    for (const JsonValue* needs_repeat : {entry.first, entry.shared}) {
      if (needs_repeat && !entry.repeat) {
        fail(*needs_repeat, in_quotes(needs_repeat->key) +
                                " is about rounds: expected 'repeat' beside it, found none");
      }
    }
    if (entry.repeat && entry.body && entry.body->inputs.size() > 1) {
      fail(*entry.repeat, "expected a block with one input to repeat, found block " +
                              in_quotes(entry.body->block) + " with " +
                              std::to_string(entry.body->inputs.size()));
    }
  }

  /// Literals are checked now, even where they are never used; the rest once parameters are known.
  template <class Read>
  void check(const JsonValue& value, Read read) {
    if (has_expression(value)) {
      check_expressions(value, list_.visible);
    } else {
      read(value);
    }
  }

  void read_inputs(Entry& entry) {
    const JsonValue* in = entry.json->find("in");
    if (!in) {
      if (here_ == 0 && list_.inputs.size() > 1) {
        required(*entry.json, "in", "an input's name, as there are several to start from");
      }
      entry.inputs = {here_ == 0 ? 0 : slot_of_entry(here_ - 1)};
    } else if (in->is(Kind::array) && !in->items.empty()) {
      for (const JsonValue* item : in->items) entry.inputs.push_back(resolve(*item));
    } else {
      entry.inputs = {resolve(*in)};
    }
    const std::size_t least = entry.op ? entry.op->min_inputs : entry.body->inputs.size();
    const std::size_t most = entry.op ? entry.op->max_inputs : least;
    if (entry.inputs.size() >= least && entry.inputs.size() <= most) return;
    fail(in ? *in : *entry.json, "wrong number of inputs: expected " +
                                     std::string(most > least ? "at least " : "") +
                                     std::to_string(least) + " for " + what(entry) + ", found " +
                                     std::to_string(entry.inputs.size()) +
                                     (in ? "" : ", the layer before; list them in 'in'"));
  }

  static std::string what(const Entry& entry) {
    if (entry.op) return std::string(entry.op->name);
    return entry.group ? "a group of layers" : "block " + in_quotes(entry.body->block);
  }

  std::size_t resolve(const JsonValue& json) {
    const std::string& name = string_of(json, "the name of an earlier layer or a list of names");
    const auto found = slots_.find(name);
    if (found == slots_.end()) fail_undefined(json, name);
    const std::size_t here = slot_of_entry(here_);
    if (found->second == here) {
      fail(json, "expected an earlier layer, found " + in_quotes(name) + ", the layer itself");
    }
    if (found->second > here) {
      fail(json, "expected an earlier layer, found " + in_quotes(name) + ", which comes later (" +
                     list_.entries[found->second - list_.inputs.size()].json->pointer() + ")");
    }
    return found->second;
  }

  [[noreturn]] void fail_undefined(const JsonValue& json, const std::string& name) {
    const std::size_t dot = name.find('.');
    if (dot != name.npos && slots_.contains(name.substr(0, dot))) {
      fail(json, "expected a layer of this list, found " + in_quotes(name) + ", which is inside " +
                     in_quotes(name.substr(0, dot)) + ": only its output can be used");
    }
    Keys known;
    for (const std::string& input : list_.inputs) known.push_back(input);
    for (std::size_t i = 0; i < here_; ++i) {
      if (list_.entries[i].json->find("name")) known.push_back(list_.entries[i].name);
    }
    const bool local = list_.json->parent != nullptr;
    fail(json, "undefined name: expected an input or an earlier layer" +
                   std::string(local ? " of this block or group" : "") + ", found " +
                   in_quotes(name) + hint(name, known));
  }

  const Spec& spec_;
  LayerList& list_;
  std::unordered_map<std::string, std::size_t> slots_;
  std::size_t here_ = 0;  // entry being read
};

}  // namespace

void read_layers(const Spec& spec, LayerList& list) { LayerReader(spec, list).read(); }

}  // namespace arenagrad
