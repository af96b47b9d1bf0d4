// What the format means: names, references, blocks, parameters, inputs, the loss.
#include "zoo/spec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "tests/zoo/support.h"

namespace arenagrad {
namespace {

std::vector<std::string> node_names(const Model& model) {
  std::vector<std::string> names;
  for (const TapeNode& node : model.tape.nodes()) names.push_back(node.name);
  return names;
}

std::vector<std::string> inputs_of(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (TensorId id : model.tape.node(model.tape.find_node(name).value()).inputs) {
    names.push_back(model.tape.tensor(id).name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Spec, LayersFollowEachOther) {
  const Model model = parse(net(R"({"name": "a", "op": "relu"}, {"op": "relu6"})"));
  EXPECT_EQ(node_names(model), (Names{"a", "1", "flat", "out", "loss"}));
  EXPECT_EQ(inputs_of(model, "a"), Names{"input"});
  EXPECT_EQ(inputs_of(model, "1"), Names{"a"});
  EXPECT_EQ(inputs_of(model, "loss"), (Names{"out", "labels"}));
}

TEST(Spec, BranchesAreNamed) {
  const Model model = parse(net(R"({"name": "a", "op": "relu"},
                                   {"name": "b", "op": "relu", "in": "input"},
                                   {"name": "s", "op": "add", "in": ["a", "b", "input"]},
                                   {"name": "c", "op": "concat", "in": ["s", "a"]})"));
  EXPECT_EQ(inputs_of(model, "b"), Names{"input"});
  EXPECT_EQ(inputs_of(model, "s"), (Names{"a", "b", "input"}));
  EXPECT_EQ(output_of(model, "c").shape, (Shape{6, 8, 8}));
}

TEST(Spec, ModelKnowsWhatBelongsToIt) {
  const std::string text = net(R"({"op": "relu"})", R"("name": "tiny", )");
  const Model model = parse(text);
  EXPECT_EQ(model.name, "tiny");
  EXPECT_EQ(model.path, "test.json");
  EXPECT_EQ(model.classes, 4);
  ASSERT_EQ(model.samples.size(), 1u);
  EXPECT_EQ(model.tape.tensor(model.samples[0]).shape, (Shape{3, 8, 8}));
  EXPECT_EQ(model.tape.tensor(model.outputs).name, "out");
  EXPECT_EQ(model.loss, model.tape.loss());
  ASSERT_EQ(model.tape.inputs().size(), 2u);
  const TapeTensor& labels = model.tape.tensor(model.tape.inputs()[1]);
  EXPECT_TRUE(labels.is_labels);
  EXPECT_EQ(labels.classes, 4);
}

TEST(Spec, HashIsFnv1aOfTheText) {
  const std::string text = net(R"({"op": "relu"})");
  std::uint64_t expected = 14695981039346656037u;
  for (unsigned char byte : text) expected = (expected ^ byte) * 1099511628211u;
  char shown[17];
  std::snprintf(shown, sizeof shown, "%016llx", static_cast<unsigned long long>(expected));
  EXPECT_EQ(parse(text).hash, shown);
}

TEST(Spec, NameDefaultsToTheFiles) {
  const std::string text = net(R"({"op": "relu"})");
  EXPECT_EQ(parse_model(text, "some/where/mine.json").name, "mine");
  EXPECT_EQ(parse_model(text, "<stdin>").name, "model");
}

TEST(Spec, ArgumentsReachTheLayers) {
  const Model model = parse(net(R"(
      {"name": "c", "op": "conv2d", "out_channels": 6, "kernel": [3, 1], "stride": [1, 2],
       "padding": [2, 0], "dilation": [2, 1], "groups": 3, "bias": false},
      {"name": "m", "op": "max_pool", "kernel": 3},
      {"name": "a", "op": "adaptive_avg_pool", "output": [2, 3]})"));
  EXPECT_EQ(output_of(model, "c").shape, (Shape{6, 8, 4}));
  EXPECT_EQ(output_of(model, "m").shape, (Shape{6, 2, 1}));  // stride: its kernel
  EXPECT_EQ(output_of(model, "a").shape, (Shape{6, 2, 3}));
  EXPECT_EQ(model.tape.parameters()[0].shape, (Shape{6, 1, 3, 1}));
  EXPECT_EQ(model.tape.parameters()[1].name, "out.weight");
}

TEST(Spec, CeilModeKeepsAPartWindow) {
  const auto height = [](const std::string& more) {
    const Model model =
        parse(net(R"({"name": "p", "op": "avg_pool", "kernel": 3, "stride": 2)" + more + "}"));
    return output_of(model, "p").shape[1];
  };
  EXPECT_EQ(height(""), 3);
  EXPECT_EQ(height(R"(, "ceil_mode": false)"), 3);
  EXPECT_EQ(height(R"(, "ceil_mode": true)"), 4);
}

TEST(Spec, BlocksTakeParametersAndRepeat) {
  const std::string blocks = R"("blocks": {"b": {
      "parameters": {"channels": null, "stride": 1, "double": false},
      "layers": [
        {"name": "conv", "op": "conv2d", "out_channels": "$channels", "kernel": 1,
         "stride": "$stride"},
        {"name": "twice", "when": "$double", "op": "conv2d", "out_channels": "2 * $channels",
         "kernel": 1},
        {"name": "relu", "op": "relu"}]}}, )";
  const Model model = parse(net(R"(
      {"name": "x", "block": "b", "repeat": 2, "with": {"channels": 4},
       "first": {"stride": [2, 4], "double": true}},
      {"name": "y", "block": "b", "with": {"channels": 5}})",
                                blocks));
  EXPECT_EQ(node_names(model), (Names{"x.0.conv", "x.0.twice", "x.0.relu", "x.1.conv", "x.1.relu",
                                      "y.conv", "y.relu", "flat", "out", "loss"}));
  EXPECT_EQ(output_of(model, "x.0.conv").shape, (Shape{4, 4, 2}));
  EXPECT_EQ(output_of(model, "x.0.twice").shape, (Shape{8, 4, 2}));
  EXPECT_EQ(output_of(model, "x.1.conv").shape, (Shape{4, 4, 2}));
  EXPECT_EQ(inputs_of(model, "x.1.relu"), Names{"x.1.conv"});
  EXPECT_EQ(inputs_of(model, "y.conv"), Names{"x.1.relu"});
}

TEST(Spec, ALayerLeftOutStandsForItsInput) {
  const Model model = parse(net(R"(
      {"name": "a", "op": "relu"},
      {"name": "b", "op": "relu"},
      {"name": "skipped", "when": false, "in": "a", "layers": [{"op": "relu"}]},
      {"name": "sum", "op": "add", "in": ["b", "skipped"]},
      {"when": false, "op": "relu"},
      {"name": "after", "op": "relu"})"));
  EXPECT_EQ(inputs_of(model, "sum"), (Names{"b", "a"}));
  EXPECT_EQ(inputs_of(model, "after"), Names{"sum"});
  EXPECT_FALSE(model.tape.find_node("skipped.0"));
}

TEST(Spec, GroupsSeeTheParametersOfTheirBlock) {
  const Model model = parse(net(R"({"name": "u", "block": "b", "with": {"n": 7}})",
                                R"("blocks": {"b": {"parameters": {"n": null}, "layers": [
      {"name": "g", "repeat": 2, "layers": [
        {"op": "conv2d", "out_channels": "$n", "kernel": 1}, {"op": "relu", "in": "0"}]}]}}, )"));
  EXPECT_EQ(node_names(model),
            (Names{"u.g.0.0", "u.g.0.1", "u.g.1.0", "u.g.1.1", "flat", "out", "loss"}));
  EXPECT_EQ(output_of(model, "u.g.1.0").shape, (Shape{7, 8, 8}));
}

TEST(Spec, BlocksPassParametersOn) {
  const Model model = parse(net(R"({"name": "o", "block": "outer", "with": {"c": 3}})",
                                R"("blocks": {
      "outer": {"parameters": {"c": null, "times": 2, "bias": false}, "layers": [
        {"name": "i", "block": "inner", "repeat": "$times",
         "with": {"channels": "$c * 2", "kernel": [1, 3], "bias": "$bias"}}]},
      "inner": {"parameters": {"channels": 1, "kernel": 1, "bias": true}, "layers": [
        {"op": "conv2d", "out_channels": "$channels", "kernel": "$kernel", "bias": "$bias"}]}}, )"));
  EXPECT_EQ(node_names(model), (Names{"o.i.0.0", "o.i.1.0", "flat", "out", "loss"}));
  EXPECT_EQ(output_of(model, "o.i.1.0").shape, (Shape{6, 8, 4}));
  EXPECT_EQ(model.tape.parameters()[1].name, "o.i.1.0.weight");
}

TEST(Spec, BlocksCanHaveSeveralInputs) {
  const Model model = parse(net(R"({"name": "a", "op": "relu"},
                                   {"name": "m", "block": "mean", "in": ["a", "input"]})",
                                R"("blocks": {"mean": {"inputs": ["x", "y"], "layers": [
      {"name": "s", "op": "add", "in": ["y", "x"]}, {"op": "relu"}]}}, )"));
  EXPECT_EQ(inputs_of(model, "m.s"), (Names{"input", "a"}));
}

TEST(Spec, ModelsCanHaveSeveralInputs) {
  const std::string text = R"({"inputs": {"left": [1, 4, 4], "right": [2, 4, 4]}, "classes": 2,
      "layers": [{"name": "both", "op": "concat", "in": ["left", "right"]}, {"op": "flatten"},
                 {"op": "linear", "out_features": 2}]})";
  const Model model = parse(text);
  ASSERT_EQ(model.samples.size(), 2u);
  EXPECT_EQ(model.tape.tensor(model.samples[1]).name, "right");
  EXPECT_EQ(output_of(model, "both").shape, (Shape{3, 4, 4}));
  try {
    parse(text, {.input = Shape{1, 4, 4}});
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_EQ(error.pointer, "/inputs");
    EXPECT_EQ(error.message,
              "--input replaces the shape of a single input: expected one input, found 2");
  }
}

TEST(Spec, InputShapeCanBeReplaced) {
  const std::string text = net(R"({"name": "r", "op": "relu"})");
  const Model model = parse(text, {.input = Shape{1, 5, 6}});
  EXPECT_EQ(output_of(model, "r").shape, (Shape{1, 5, 6}));
  // A single input with a name of its own as well.
  const std::string named = R"({"inputs": {"x": [1, 4, 4]}, "classes": 2,
      "layers": [{"name": "f", "op": "flatten"}, {"op": "linear", "out_features": 2}]})";
  EXPECT_EQ(output_of(parse(named, {.input = Shape{7}}), "f").shape, Shape{7});
}

TEST(Spec, InitRulesAreByOpThenByLayer) {
  const std::string layers = R"({"name": "c", "op": "conv2d", "out_channels": 2, "kernel": 1},
      {"name": "d", "op": "conv2d", "out_channels": 2, "kernel": 1, "init": {"normal": 0.5}})";
  const auto starts = [&](const std::string& init) {
    std::vector<std::pair<Initializer::Kind, double>> found;
    const Model model = parse(net(layers, init));
    for (const TapeParameter& p : model.tape.parameters()) {
      if (p.name.ends_with("weight")) found.push_back({p.init.kind, p.init.scale});
    }
    return found;
  };
  using Kind = Initializer::Kind;
  const auto standard = starts("");
  EXPECT_EQ(standard[0].first, Kind::uniform);
  EXPECT_EQ(standard[1], std::pair(Kind::normal, 0.5));
  EXPECT_EQ(standard[2].first, Kind::uniform);
  EXPECT_EQ(starts(R"("init": "pytorch", )"), standard);
  const auto by_op = starts(R"("init": {"linear": {"normal": 0.01}}, )");
  EXPECT_EQ(by_op[0].first, Kind::uniform);
  EXPECT_EQ(by_op[2], std::pair(Kind::normal, 0.01));
  const auto all = starts(R"("init": {"normal": 2}, )");
  EXPECT_EQ(all[0], std::pair(Kind::normal, 2.0));
  EXPECT_EQ(all[1], std::pair(Kind::normal, 0.5));
  EXPECT_EQ(all[2], std::pair(Kind::normal, 2.0));
  EXPECT_EQ(starts(R"("init": "kaiming_fan_out", )")[0], std::pair(Kind::normal, 1.0));
}

TEST(Spec, LossIsAMeanOrASum) {
  const auto is_mean = [](const std::string& loss) {
    const Model model = parse(net(R"({"op": "relu"})", loss));
    return model.tape.node(model.loss).layer->loss_is_mean();
  };
  EXPECT_TRUE(is_mean(""));
  EXPECT_TRUE(is_mean(R"("loss": {"op": "softmax_cross_entropy"}, )"));
  EXPECT_TRUE(is_mean(R"("loss": {"reduction": "mean"}, )"));
  EXPECT_FALSE(is_mean(R"("loss": {"reduction": "sum"}, )"));
}

TEST(Spec, UnfoldsUpToTheLimit) {
  const auto groups = [](std::int64_t rounds) {
    return net(R"({"repeat": )" + std::to_string(rounds) + R"(, "layers": [{"op": "relu"}]})");
  };
  // The group itself, flatten and linear count too.
  EXPECT_EQ(parse(groups(kMostLayers - 3)).tape.nodes().size(), std::size_t(kMostLayers));
  EXPECT_THROW(parse(groups(kMostLayers - 2)), SpecError);
}

TEST(Spec, ExamplesOfTheDocumentationAreModels) {
  const std::string text = read_source("docs/spec.md"), fence = "```json\n";
  int whole_models = 0;
  for (std::size_t at = text.find(fence); at != text.npos; at = text.find(fence, at)) {
    at += fence.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    if (example.find("\"classes\"") == example.npos) continue;
    EXPECT_NO_THROW(parse(example)) << example;
    ++whole_models;
  }
  EXPECT_EQ(whole_models, 2);
}

}  // namespace
}  // namespace arenagrad
