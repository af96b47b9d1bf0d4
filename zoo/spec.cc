#include "zoo/spec.h"

#include <algorithm>
#include <array>

#include "zoo/fields.h"
#include "zoo/hint.h"
#include "zoo/spec_layers.h"
#include "zoo/values.h"

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMostDims = Shape::kMaxRank - 1;  // the batch is one more
constexpr std::size_t kMostParameters = 64;
constexpr std::int64_t kMostClasses = (std::int64_t{1} << 31) - 1;

constexpr std::array<std::string_view, 10> kModelKeys{"$schema", "name",    "description", "input",
                                                      "inputs",  "classes", "init",        "blocks",
                                                      "layers",  "loss"};
constexpr std::array<std::string_view, 4> kBlockKeys{"description", "parameters", "inputs",
                                                     "layers"};
constexpr std::array<std::string_view, 2> kLossKeys{"op", "reduction"};

SpecInput read_input(std::string name, const JsonValue& json) {
  const std::string expected =
      "a shape: a list of 1 to " + std::to_string(kMostDims) + " integers, like [3, 224, 224]";
  if (!json.is(Kind::array) || json.items.empty() || json.items.size() > kMostDims) {
    fail_expected(json, expected);
  }
  SpecInput input{std::move(name), &json, {}};
  for (const JsonValue* dim : json.items) {
    check_expressions(*dim, {});
    input.dims.push_back(integer_value(*dim, {}, 1));
  }
  return input;
}

void read_inputs(const JsonValue& root, Spec& spec) {
  const JsonValue* one = root.find("input");
  const JsonValue* several = root.find("inputs");
  if (one && several) fail(*several, "expected either 'input' or 'inputs', found both");
  if (one) spec.inputs.push_back(read_input("input", *one));
  if (several) {
    constexpr std::string_view expected = "an object with a shape for each input's name";
    require_object(*several, expected);
    if (several->items.empty()) fail_expected(*several, expected);
    for (const JsonValue* item : several->items) {
      check_name(*item, item->key, "input name");
      if (item->key == "labels" || item->key == "loss") {
        fail(*item, in_quotes(item->key) + " is reserved: expected another name");
      }
      spec.inputs.push_back(read_input(item->key, *item));
    }
  }
  if (!one && !several) required(root, "input", "a shape like [3, 224, 224] (or \"inputs\")");
  for (const SpecInput& input : spec.inputs) spec.layers.inputs.push_back(input.name);
}

void read_init(const JsonValue& json, Spec& spec) {
  std::vector<std::string_view> known;
  for (const Op& op : ops()) {
    const bool starts = std::ranges::any_of(
        op.arguments, [](const Argument& a) { return a.kind == ArgumentKind::init; });
    if (starts) known.push_back(op.name);
  }
  const bool by_op = json.is(Kind::object) && !json.find("normal");
  if (!by_op) {
    for (std::string_view op : known) spec.init.emplace(op, init_rule(json));
    return;
  }
  refuse_unknown_keys(json, known, "\"init\"");
  for (const JsonValue* item : json.items) spec.init.emplace(item->key, init_rule(*item));
}

/// Everything but the layers, so that blocks can name each other in any order.
LayerList read_block_header(const JsonValue& json) {
  check_name(json, json.key, "block name");
  require_object(json, "a block: an object with \"layers\"");
  refuse_unknown_keys(json, kBlockKeys, "a block");
  check_description(json);
  LayerList block{.block = json.key, .json = &json};
  if (const JsonValue* inputs = json.find("inputs")) {
    constexpr std::string_view expected = "a list of one or more names";
    if (!inputs->is(Kind::array) || inputs->items.empty()) fail_expected(*inputs, expected);
    for (const JsonValue* item : inputs->items) {
      const std::string& name = string_of(*item, "an input's name");
      check_name(*item, name, "input name");
      if (std::ranges::find(block.inputs, name) != block.inputs.end()) {
        fail(*item, "duplicate input name: expected a name used once, found " + in_quotes(name) +
                        " again");
      }
      block.inputs.push_back(name);
    }
  } else {
    block.inputs = {"input"};
  }
  if (const JsonValue* parameters = json.find("parameters")) {
    require_object(*parameters, "an object with a default (or null) for each parameter");
    if (parameters->items.size() > kMostParameters) {
      fail(*parameters, "expected at most " + std::to_string(kMostParameters) +
                            " parameters, found " + std::to_string(parameters->items.size()));
    }
    for (const JsonValue* item : parameters->items) {
      check_name(*item, item->key, "parameter name");
      check_expressions(*item, {});
      if (!item->is(Kind::null)) parameter_value(*item, {});
      block.parameters.push_back({item->key, item->is(Kind::null) ? nullptr : item});
    }
  }
  return block;
}

void read_blocks(const JsonValue& json, Spec& spec) {
  require_object(json, "an object with a block for each name");
  for (const JsonValue* item : json.items) spec.blocks.emplace(item->key, read_block_header(*item));
  for (auto& [name, block] : spec.blocks) {
    for (const BlockParameter& parameter : block.parameters) {
      block.visible.push_back(parameter.name);
    }
  }
  for (const JsonValue* item : json.items) read_layers(spec, spec.blocks.find(item->key)->second);
  refuse_block_cycles(spec);
}

std::optional<CoupledLoss> coupled_loss_named(const JsonValue& op) {
  if (!op.is(Kind::string)) return std::nullopt;
  if (op.text == "cross_entropy_of_mean_logits") return CoupledLoss::cross_entropy_of_mean_logits;
  if (op.text == "variance") return CoupledLoss::variance;
  if (op.text == "contrastive") return CoupledLoss::contrastive;
  return std::nullopt;
}

CoupledLossOptions read_coupled_loss(const JsonValue& json, CoupledLoss kind) {
  CoupledLossOptions options{.kind = kind};
  if (kind != CoupledLoss::contrastive) {
    constexpr std::array<std::string_view, 1> kKeys{"op"};
    refuse_unknown_keys(json, kKeys, "this loss");
    return options;
  }
  constexpr std::array<std::string_view, 2> kKeys{"op", "margin"};
  refuse_unknown_keys(json, kKeys, "a contrastive loss");
  if (const JsonValue* margin = json.find("margin")) {
    const bool number = margin->is(Kind::integer) || margin->is(Kind::number);
    if (!number || margin->number <= 0) fail_expected(*margin, "a number above 0");
    options.margin = margin->number;
  }
  return options;
}

LossSpec read_loss(const JsonValue& json) {
  require_object(json, "a loss like {\"op\": \"softmax_cross_entropy\", \"reduction\": \"mean\"}");
  LossSpec loss;
  const JsonValue* op = json.find("op");
  if (op) {
    if (const auto kind = coupled_loss_named(*op)) {
      loss.coupled = read_coupled_loss(json, *kind);
      return loss;
    }
  }
  refuse_unknown_keys(json, kLossKeys, "\"loss\"");
  if (op && !(op->is(Kind::string) && op->text == "softmax_cross_entropy")) {
    fail_expected(*op,
                  "\"softmax_cross_entropy\", \"cross_entropy_of_mean_logits\", \"variance\" or "
                  "\"contrastive\"");
  }
  const JsonValue* reduction = json.find("reduction");
  if (!reduction || (reduction->is(Kind::string) && reduction->text == "mean")) return loss;
  if (reduction->is(Kind::string) && reduction->text == "sum") {
    loss.reduction = Reduction::sum;
    return loss;
  }
  fail_expected(*reduction, "\"mean\" or \"sum\"");
}

}  // namespace

Spec read_spec(const JsonDocument& document) {
  const JsonValue& root = document.root();
  require_object(root, "a model: a JSON object with \"input\", \"classes\" and \"layers\"");
  refuse_unknown_keys(root, kModelKeys, "a model");
  Spec spec;
  if (const JsonValue* schema = root.find("$schema")) string_of(*schema, "a path or an address");
  if (const JsonValue* name = root.find("name")) {
    spec.name = string_of(*name, "a name");
    check_name(*name, spec.name, "model name");
  }
  check_description(root);
  if (const JsonValue* description = root.find("description")) {
    spec.description = description->text;
  }
  read_inputs(root, spec);
  const JsonValue& classes = required(root, "classes", "the number of classes");
  check_expressions(classes, {});
  spec.classes = integer_value(classes, {}, 1, kMostClasses);
  if (const JsonValue* init = root.find("init")) read_init(*init, spec);
  if (const JsonValue* blocks = root.find("blocks")) read_blocks(*blocks, spec);
  spec.layers.json = &root;
  read_layers(spec, spec.layers);
  if (const JsonValue* loss = root.find("loss")) spec.loss = read_loss(*loss);
  return spec;
}

}  // namespace arenagrad
