// Reading an engines file. What is wrong with one is said with its place in it.
#include <algorithm>
#include <array>

#include "zoo/catalogue.h"
#include "zoo/engines_file.h"
#include "zoo/fields.h"
#include "zoo/values.h"

namespace arenagrad {
namespace {

using cudnn::ConvKey, cudnn::Engine, cudnn::EnginePolicy;
using Kind = JsonValue::Kind;

bool truth(const JsonValue& object, std::string_view key) {
  const JsonValue& json = required(object, key, "true or false");
  if (!json.is(Kind::boolean)) fail_expected(json, "true or false");
  return json.boolean;
}

std::int64_t integer(const JsonValue& json, std::int64_t least) {
  return integer_value(json, {}, static_cast<double>(least));
}

std::int64_t integer(const JsonValue& object, std::string_view key, std::int64_t least) {
  return integer(required(object, key, "an integer"), least);
}

template <std::size_t n>
std::array<std::int64_t, n> integers(const JsonValue& object, std::string_view key,
                                     std::int64_t least) {
  const std::string expected = std::to_string(n) + " integers in a list";
  const JsonValue& json = required(object, key, expected);
  if (!json.is(Kind::array) || json.items.size() != n) fail_expected(json, expected);
  std::array<std::int64_t, n> values;
  for (std::size_t i = 0; i < n; ++i) values[i] = integer(*json.items[i], least);
  return values;
}

/// The value among `choices` whose name is written.
template <class Choice>
Choice one_of(const JsonValue& object, std::string_view key,
              std::initializer_list<Choice> choices) {
  std::string expected;
  for (const Choice choice : choices)
    expected += (expected.empty() ? "" : ", ") + std::string(cudnn::name(choice));
  const JsonValue& json = required(object, key, "one of " + expected);
  for (const Choice choice : choices)
    if (json.is(Kind::string) && json.text == cudnn::name(choice)) return choice;
  fail_expected(json, "one of " + expected);
}

EnginePolicy read_policy(const JsonValue& json) {
  require_object(json, "the policy, an object");
  constexpr std::array<std::string_view, 3> kKeys{"allow_tf32", "allow_nondeterministic",
                                                  "workspace"};
  refuse_unknown_keys(json, kKeys, "a policy");
  EnginePolicy policy;
  policy.allow_tf32 = truth(json, "allow_tf32");
  policy.allow_nondeterministic = truth(json, "allow_nondeterministic");
  const JsonValue& workspace = required(json, "workspace", "heuristic, none or bytes");
  if (workspace.is(Kind::integer) && workspace.integer >= 0) {
    policy.workspace = EnginePolicy::Workspace::limit;
    policy.limit = static_cast<std::size_t>(workspace.integer);
  } else if (workspace.is(Kind::string) && workspace.text == "none") {
    policy.workspace = EnginePolicy::Workspace::none;
  } else if (!workspace.is(Kind::string) || workspace.text != "heuristic") {
    fail_expected(workspace, "heuristic, none or bytes");
  }
  return policy;
}

/// Positions of an output along one axis; 0 where the window is wider than the padded input.
std::int64_t output(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                    std::int64_t dilation) {
  const std::int64_t room = length + 2 * pad - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// Far beyond any tensor, far below what arithmetic on them could overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 31;

ConvKey read_key(const JsonValue& json) {
  const auto [n, c, h, w] = integers<4>(json, "input", 1);
  const auto [k, per_group, r, s] = integers<4>(json, "filter", 1);
  const auto stride = integers<2>(json, "stride", 1), pad = integers<2>(json, "pad", 0),
             dilation = integers<2>(json, "dilation", 1);
  const std::int64_t groups = integer(json, "groups", 1);
  for (const std::int64_t value : {n, c, h, w, k, per_group, r, s, stride[0], stride[1], pad[0],
                                   pad[1], dilation[0], dilation[1], groups})
    if (value > kMost) fail(json, "expected sizes of at most 2^31, found " + std::to_string(value));
  if (per_group * groups != c)
    fail(json, "expected filters over " + std::to_string(c) + " / " + std::to_string(groups) +
                   " channels, found " + std::to_string(per_group));
  ConvKey key;
  key.type = one_of(json, "type", {cudnn::DataType::f32, cudnn::DataType::f64});
  key.problem = {.batch = n,
                 .in_channels = c,
                 .in_h = h,
                 .in_w = w,
                 .out_channels = k,
                 .kernel_h = r,
                 .kernel_w = s,
                 .stride_h = stride[0],
                 .stride_w = stride[1],
                 .pad_h = pad[0],
                 .pad_w = pad[1],
                 .dilation_h = dilation[0],
                 .dilation_w = dilation[1],
                 .groups = groups,
                 .out_h = output(h, r, stride[0], pad[0], dilation[0]),
                 .out_w = output(w, s, stride[1], pad[1], dilation[1]),
                 .dtype = key.type == cudnn::DataType::f64 ? DType::f64 : DType::f32};
  if (key.problem.out_h < 1 || key.problem.out_w < 1)
    fail(json, "expected a window that fits its input, found none that does");
  key.pass =
      one_of(json, "pass", {ConvPass::forward, ConvPass::backward_data, ConvPass::backward_filter});
  key.layout = one_of(json, "layout", {Layout::nchw, Layout::nhwc});
  key.alignment = static_cast<std::size_t>(integer(json, "alignment", 1));
  key.accumulate = truth(json, "added");
  return key;
}

cudnn::Notes read_notes(const JsonValue& json) {
  constexpr const char* kExpected = "names of notes in a list";
  if (!json.is(Kind::array)) fail_expected(json, kExpected);
  cudnn::Notes notes;
  for (const JsonValue* item : json.items)
    if (!notes.add(string_of(*item, "the name of a note"))) fail_expected(*item, "a note of cuDNN");
  return notes;
}

cudnn::EngineAnswer read_answer(const JsonValue& json) {
  if (const JsonValue* none = json.find("none"))
    return {std::nullopt, string_of(*none, "why there is no engine, as text")};
  Engine engine;
  engine.id = integer(json, "engine", 0);
  engine.workspace = static_cast<std::size_t>(integer(json, "workspace", 0));
  engine.notes = read_notes(required(json, "notes", "names of notes in a list"));
  const JsonValue& knobs = required(json, "knobs", "pairs of integers in a list");
  if (!knobs.is(Kind::array)) fail_expected(knobs, "pairs of integers in a list");
  for (const JsonValue* knob : knobs.items) {
    if (!knob->is(Kind::array) || knob->items.size() != 2) fail_expected(*knob, "[kind, value]");
    engine.knobs.emplace_back(integer(*knob->items[0], 0), integer(*knob->items[1], INT64_MIN));
  }
  return {std::move(engine), ""};
}

constexpr std::array<std::string_view, 16> kAnswerKeys{
    "pass", "type",     "layout", "alignment", "added",  "input",     "filter", "stride",
    "pad",  "dilation", "groups", "none",      "engine", "workspace", "notes",  "knobs"};
constexpr std::array<std::string_view, 6> kFileKeys{"engines",    "cudnn",  "device",
                                                    "properties", "policy", "answers"};

}  // namespace

EnginesFile parse_engines(std::string_view text, const std::string& name) {
  const auto document = JsonDocument::parse(text, name);
  const JsonValue& root = document->root();
  require_object(root, "an engines file: an object");
  refuse_unknown_keys(root, kFileKeys, "an engines file");
  const JsonValue& version = required(root, "engines", "1, the version of the format");
  if (!version.is(Kind::integer) || version.integer != 1)
    fail_expected(version, "1, the version of the format");
  EnginesFile file;
  file.cudnn = static_cast<std::size_t>(integer(root, "cudnn", 1));
  file.device = string_of(required(root, "device", "a device's name"), "a device's name");
  file.properties = string_of(required(root, "properties", "a hash"), "a hash");
  file.policy = read_policy(required(root, "policy", "the policy, an object"));
  const JsonValue& answers = required(root, "answers", "a list of answers");
  if (!answers.is(Kind::array)) fail_expected(answers, "a list of answers");
  for (const JsonValue* answer : answers.items) {
    require_object(*answer, "an answer, an object");
    refuse_unknown_keys(*answer, kAnswerKeys, "an answer");
    if (!file.answers.emplace(read_key(*answer), read_answer(*answer)).second)
      fail(*answer, "expected each problem once, found it again");
  }
  return file;
}

EnginesFile load_engines(const std::string& path) { return parse_engines(read_text(path), path); }

}  // namespace arenagrad
