#include "zoo/engines_file.h"

#include <nlohmann/json.hpp>

namespace arenagrad {
namespace {

using Json = nlohmann::ordered_json;
using cudnn::EnginePolicy;

Json to_json(const EnginePolicy& policy) {
  Json workspace;
  switch (policy.workspace) {
    case EnginePolicy::Workspace::heuristic: workspace = "heuristic"; break;
    case EnginePolicy::Workspace::none: workspace = "none"; break;
    case EnginePolicy::Workspace::limit: workspace = policy.limit; break;
  }
  return {{"allow_tf32", policy.allow_tf32},
          {"allow_nondeterministic", policy.allow_nondeterministic},
          {"workspace", workspace}};
}

Json to_json(const cudnn::ConvKey& key, const cudnn::EngineAnswer& answer) {
  Json json{{"pass", cudnn::name(key.pass)},
            {"type", cudnn::name(key.type)},
            {"layout", cudnn::name(key.layout)},
            {"alignment", key.alignment},
            {"added", key.accumulate}};
  json.update(sizes_json(key.problem));
  if (!answer.engine) {
    json["none"] = answer.why;
    return json;
  }
  json["engine"] = answer.engine->id;
  json["workspace"] = answer.engine->workspace;
  json["notes"] = cudnn::names(answer.engine->notes);
  json["knobs"] = Json::array();
  for (const auto& [kind, value] : answer.engine->knobs) json["knobs"].push_back({kind, value});
  return json;
}

}  // namespace

Json sizes_json(const ConvProblem& p) {
  return {{"input", {p.batch, p.in_channels, p.in_h, p.in_w}},
          {"filter", {p.out_channels, p.in_channels / p.groups, p.kernel_h, p.kernel_w}},
          {"stride", {p.stride_h, p.stride_w}},
          {"pad", {p.pad_h, p.pad_w}},
          {"dilation", {p.dilation_h, p.dilation_w}},
          {"groups", p.groups}};
}

std::string to_text(const EnginesFile& file) {
  // By hand on the outside, so that an answer is a line and two files can be compared.
  std::string text = "{\n";
  const auto member = [&](const char* key, const Json& value) {
    text += std::string("  \"") + key + "\": " + value.dump() + ",\n";
  };
  member("engines", 1);
  member("cudnn", file.cudnn);
  member("device", file.device);
  member("properties", file.properties);
  member("policy", to_json(file.policy));
  text += "  \"answers\": [";
  const char* separator = "\n    ";
  for (const auto& [key, answer] : file.answers) {
    text += separator + to_json(key, answer).dump();
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace arenagrad
