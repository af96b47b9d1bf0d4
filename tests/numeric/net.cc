#include "tests/numeric/net.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "layers/layers.h"

namespace arenagrad::numeric {
namespace {

using nlohmann::json;
using Pair = std::array<std::int64_t, 2>;

/// One layer's keys, with PyTorch's defaults where absent or null.
class Keys {
 public:
  explicit Keys(const json& layer) : layer_(layer) {}

  bool has(const char* key) const { return layer_.contains(key) && !layer_.at(key).is_null(); }
  template <class T>
  T get(const char* key) const {
    return layer_.at(key).get<T>();
  }
  template <class T>
  T get(const char* key, T otherwise) const {
    return has(key) ? layer_.at(key).get<T>() : otherwise;
  }
  /// One number for both axes or [height, width].
  Pair pair(const char* key) const {
    const json& value = layer_.at(key);
    if (value.is_array() && value.size() == 1) return {value[0], value[0]};
    if (value.is_array()) return value.get<Pair>();
    return {value.get<std::int64_t>(), value.get<std::int64_t>()};
  }
  Pair pair(const char* key, Pair otherwise) const { return has(key) ? pair(key) : otherwise; }

 private:
  const json& layer_;
};

void refuse(bool refused, const std::string& what) {
  if (refused) throw Error(what);
}

Conv2dSpec conv_spec(const Keys& keys) {
  Conv2dSpec spec{};
  spec.out_channels = keys.get<std::int64_t>("out_channels");
  spec.window = {.kernel = keys.pair("kernel"),
                 .stride = keys.pair("stride", {1, 1}),
                 .padding = keys.pair("padding", {0, 0}),
                 .dilation = keys.pair("dilation", {1, 1})};
  spec.groups = keys.get<std::int64_t>("groups", 1);
  spec.bias = keys.get<bool>("bias", true);
  return spec;
}

PoolSpec pool_spec(const Keys& keys) {
  const Pair one{1, 1};
  refuse(keys.pair("dilation", one) != one, "expected pooling without dilation");
  PoolSpec spec;
  spec.window.kernel = keys.pair("kernel");
  spec.window.stride = keys.pair("stride", spec.window.kernel);
  spec.window.padding = keys.pair("padding", {0, 0});
  spec.ceil_mode = keys.get<bool>("ceil_mode", false);
  spec.count_include_pad = keys.get<bool>("count_include_pad", true);
  return spec;
}

std::unique_ptr<Layer> adaptive(const Keys& keys) {
  const json size = keys.get<json>("output_size");
  const auto axis = [&](std::size_t i) -> std::int64_t {
    const json& value = size.is_array() ? size.at(size.size() == 1 ? 0 : i) : size;
    return value.is_null() ? 0 : value.get<std::int64_t>();
  };
  return adaptive_avg_pool({axis(0), axis(1)});
}

std::unique_ptr<Layer> make_concat(const Keys& keys) {
  const auto axis = keys.get<std::int64_t>("axis", 1);
  refuse(axis != 1, "expected concat along axis 1, got " + std::to_string(axis));
  return concat();
}

using Maker = std::function<std::unique_ptr<Layer>(const Keys&)>;

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {
      {"conv2d", [](const Keys& keys) { return conv2d(conv_spec(keys)); }},
      {"batch_norm",
       [](const Keys& keys) {
         return batch_norm({.eps = keys.get("eps", 1e-5), .momentum = keys.get("momentum", 0.1)});
       }},
      {"lrn",
       [](const Keys& keys) {
         return local_response_norm({.size = keys.get<std::int64_t>("size"),
                                     .alpha = keys.get("alpha", 1e-4),
                                     .beta = keys.get("beta", 0.75),
                                     .k = keys.get("k", 1.0)});
       }},
      {"max_pool", [](const Keys& keys) { return max_pool(pool_spec(keys)); }},
      {"avg_pool", [](const Keys& keys) { return avg_pool(pool_spec(keys)); }},
      {"adaptive_avg_pool", adaptive},
      {"relu", [](const Keys&) { return relu(); }},
      {"relu6", [](const Keys&) { return relu6(); }},
      {"linear",
       [](const Keys& keys) {
         return linear({.out_features = keys.get<std::int64_t>("out_features"),
                        .bias = keys.get<bool>("bias", true),
                        .init = {}});
       }},
      {"dropout", [](const Keys& keys) { return dropout(keys.get("p", 0.5)); }},
      {"flatten", [](const Keys&) { return flatten(); }},
      {"add", [](const Keys&) { return add(); }},
      {"concat", make_concat},
  };
  return table;
}

/// Shape per sample of a whole tensor's.
Shape without_batch(const json& dims) {
  const auto all = dims.get<std::vector<std::int64_t>>();
  refuse(all.empty(), "expected a shape with the batch in front, got []");
  return Shape(std::span(all).subspan(1));
}

class Builder {
 public:
  explicit Builder(const json& reference_case) {
    net_.samples = net_.tape.input("x", without_batch(reference_case.at("input_shape")));
    net_.labels = net_.tape.labels("labels", reference_case.at("classes").get<std::int64_t>());
    by_name_["x"] = net_.samples;
  }

  void add_layer(const json& layer) {
    const auto name = layer.at("name").get<std::string>();
    try {
      record(name, layer);
    } catch (const std::exception& error) {
      throw Error("layer '" + name + "': " + error.what());
    }
  }

  Net finish() && {
    refuse(net_.layers.empty(), "expected at least one layer, got none");
    const std::array inputs{net_.tape.node(net_.layers.back()).output, net_.labels};
    const TensorId loss = net_.tape.record("loss", softmax_cross_entropy(Reduction::mean), inputs);
    net_.loss = net_.tape.tensor(loss).producer;
    return std::move(net_);
  }

 private:
  void record(const std::string& name, const json& layer) {
    const auto op = layer.at("op").get<std::string>();
    const auto maker = makers().find(op);
    refuse(maker == makers().end(), "unknown op '" + op + "'");
    std::vector<TensorId> inputs;
    for (const json& input : layer.at("in")) inputs.push_back(find(input.get<std::string>()));
    std::optional<NodeId> weights;
    if (layer.contains("weights"))
      weights = net_.tape.tensor(find(layer.at("weights").get<std::string>())).producer;

    const TensorId output = net_.tape.record(name, maker->second(Keys(layer)), inputs, weights);
    const Shape& shape = net_.tape.tensor(output).shape;
    if (layer.contains("output_shape")) {
      const Shape expected = without_batch(layer.at("output_shape"));
      refuse(shape != expected, "expected output " + expected.text() + ", got " + shape.text());
    }
    refuse(!by_name_.emplace(name, output).second, "the name is taken");
    net_.layers.push_back(net_.tape.tensor(output).producer);
  }

  TensorId find(const std::string& name) const {
    const auto at = by_name_.find(name == "input" ? "x" : name);
    refuse(at == by_name_.end(), "no earlier layer '" + name + "'");
    return at->second;
  }

  Net net_;
  std::map<std::string, TensorId> by_name_;
};

}  // namespace

Net build_net(const json& reference_case) {
  Builder builder(reference_case);
  for (const json& layer : reference_case.at("layers")) builder.add_layer(layer);
  return std::move(builder).finish();
}

}  // namespace arenagrad::numeric
