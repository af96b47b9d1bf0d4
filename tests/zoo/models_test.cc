// The zoo's models against what torchvision has, and against the papers where it has no such model.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "tests/zoo/support.h"
#include "zoo/json.h"

namespace arenagrad {
namespace {

std::int64_t multiply_adds(const Model& model) {
  std::int64_t sum = 0;
  for (const TapeNode& node : model.tape.nodes()) sum += node.multiply_adds;
  return sum;
}

std::set<std::string> names() {
  std::set<std::string> found;
  for (const ZooEntry& entry : zoo_models()) found.insert(entry.name);
  return found;
}

TEST(Zoo, HoldsEveryModelWithADescription) {
  const std::set<std::string> expected{"alexnet",   "alexnet_original", "lenet5",   "lenet5_digits",
                                       "resnet18",  "resnet34",         "resnet50", "resnet101",
                                       "resnet152", "resnet20_cifar",   "vgg11",    "vgg11_bn",
                                       "vgg16",     "vgg16_bn"};
  EXPECT_EQ(names(), expected);
  for (const ZooEntry& entry : zoo_models()) {
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_EQ(load_model(entry.name).name, entry.name);
    EXPECT_EQ(load_model(entry.path).hash, load_model(entry.name).hash);
  }
}

TEST(Zoo, EqualsTorchvision) {
  const auto document = JsonDocument::parse(read_source("tests/data/torchvision_models.json"), "");
  const auto& models = document->root().find("models")->items;
  ASSERT_EQ(models.size(), 10u);
  for (const JsonValue* facts : models) {
    SCOPED_TRACE(facts->key);
    const Model model = load_model(facts->key);
    const auto number = [&](std::string_view key) { return facts->find(key)->integer; };
    EXPECT_EQ(model.tape.parameter_count(), number("parameters"));
    EXPECT_EQ(std::int64_t(model.tape.parameters().size()), number("parameter_tensors"));
    EXPECT_EQ(multiply_adds(model), number("multiply_adds"));
    std::int64_t statistics = 0;
    for (const TapeState& state : model.tape.states()) statistics += state.shape.elements();
    EXPECT_EQ(statistics, number("running_statistics"));
    EXPECT_EQ(model.tape.tensor(model.outputs).shape,
              Shape{facts->find("output")->items[0]->integer});
    EXPECT_EQ(model.tape.tensor(model.samples[0]).shape, (Shape{3, 224, 224}));
  }
}

TEST(Zoo, EqualsThePapers) {
  // conv 6@5x5, 16@5x5, linear 400-120-84-10.
  const Model lenet = load_model("lenet5");
  EXPECT_EQ(lenet.tape.parameter_count(), 156 + 2416 + 48120 + 10164 + 850);
  EXPECT_EQ(multiply_adds(lenet), 784 * 6 * 25 + 100 * 16 * 150 + 400 * 120 + 120 * 84 + 840);
  EXPECT_EQ(output_of(lenet, "pool2").shape, (Shape{16, 5, 5}));

  const Model digits = load_model("lenet5_digits");
  EXPECT_EQ(digits.tape.parameter_count(), 60 + 880 + 64 * 120 + 120 + 10164 + 850);

  const Model original = load_model("alexnet_original");
  EXPECT_EQ(original.tape.parameter_count(), 60'965'224);
  EXPECT_EQ(multiply_adds(original), 724'406'816);
  EXPECT_EQ(output_of(original, "conv1").shape, (Shape{96, 55, 55}));
  EXPECT_EQ(output_of(original, "reduce2.pool").shape, (Shape{256, 13, 13}));

  // 3-16: 432 + 32; nine blocks; projections 16-32 and 32-64; linear 650.
  const Model cifar = load_model("resnet20_cifar");
  const std::int64_t blocks =
      3 * (2 * 2304 + 64) + (4608 + 5 * 9216 + 6 * 64) + (18432 + 5 * 36864 + 6 * 128);
  EXPECT_EQ(cifar.tape.parameter_count(), 464 + blocks + (512 + 64) + (2048 + 128) + 650);
  EXPECT_EQ(cifar.tape.tensor(cifar.outputs).shape, Shape{10});
}

TEST(Zoo, ParameterNamesAreTorchvisions) {
  const auto has = [](const Model& model, const std::string& name, const Shape& shape) {
    const auto parameters = model.tape.parameters();
    const auto found = std::ranges::find(parameters, name, &TapeParameter::name);
    return found != parameters.end() && found->shape == shape;
  };
  const Model resnet = load_model("resnet50");
  EXPECT_TRUE(has(resnet, "conv1.weight", {64, 3, 7, 7}));
  EXPECT_TRUE(has(resnet, "layer1.0.downsample.0.weight", {256, 64, 1, 1}));
  EXPECT_TRUE(has(resnet, "layer1.0.downsample.1.bias", {256}));
  EXPECT_TRUE(has(resnet, "layer2.0.conv2.weight", {128, 128, 3, 3}));
  EXPECT_TRUE(has(resnet, "layer4.2.bn3.weight", {2048}));
  EXPECT_TRUE(has(resnet, "fc.bias", {1000}));
  const Model alexnet = load_model("alexnet");
  EXPECT_TRUE(has(alexnet, "features.0.weight", {64, 3, 11, 11}));
  EXPECT_TRUE(has(alexnet, "features.10.bias", {256}));
  EXPECT_TRUE(has(alexnet, "classifier.1.weight", {4096, 9216}));
  EXPECT_TRUE(has(alexnet, "classifier.6.bias", {1000}));
  const Model vgg = load_model("vgg16_bn");
  EXPECT_TRUE(has(vgg, "features.41.weight", {512}));
  EXPECT_TRUE(has(vgg, "classifier.0.weight", {4096, 25088}));
}

TEST(Zoo, StrideOfABottleneckIsInItsMiddle) {
  const Model resnet = load_model("resnet50");
  EXPECT_EQ(output_of(resnet, "layer2.0.conv1").shape, (Shape{128, 56, 56}));
  EXPECT_EQ(output_of(resnet, "layer2.0.conv2").shape, (Shape{128, 28, 28}));
  EXPECT_EQ(output_of(resnet, "layer2.0.downsample.0").shape, (Shape{512, 28, 28}));
  EXPECT_FALSE(resnet.tape.find_node("layer2.1.downsample.0"));
}

Initializer start_of(const Model& model, const std::string& name) {
  const auto parameters = model.tape.parameters();
  return std::ranges::find(parameters, name, &TapeParameter::name)->init;
}

void expect_start(const Model& model, const std::string& name, Initializer::Kind kind,
                  double scale) {
  const Initializer start = start_of(model, name);
  EXPECT_EQ(start.kind, kind) << model.name << " " << name;
  EXPECT_DOUBLE_EQ(start.scale, scale) << model.name << " " << name;
}

TEST(Zoo, WeightsStartAsTorchvisions) {
  using Kind = Initializer::Kind;
  const Model resnet = load_model("resnet18");
  expect_start(resnet, "conv1.weight", Kind::normal, std::sqrt(2.0 / (64 * 49)));
  expect_start(resnet, "layer3.0.downsample.0.weight", Kind::normal, std::sqrt(2.0 / 256));
  expect_start(resnet, "bn1.weight", Kind::constant, 1);
  expect_start(resnet, "bn1.bias", Kind::constant, 0);
  expect_start(resnet, "fc.weight", Kind::uniform, 1 / std::sqrt(512.0));
  expect_start(resnet, "fc.bias", Kind::uniform, 1 / std::sqrt(512.0));
  const Model vgg = load_model("vgg11");
  expect_start(vgg, "features.0.weight", Kind::normal, std::sqrt(2.0 / (64 * 9)));
  expect_start(vgg, "features.0.bias", Kind::constant, 0);
  expect_start(vgg, "classifier.0.weight", Kind::normal, 0.01);
  expect_start(vgg, "classifier.0.bias", Kind::constant, 0);
  const Model alexnet = load_model("alexnet");
  expect_start(alexnet, "features.3.weight", Kind::uniform, 1 / std::sqrt(64.0 * 25));
  expect_start(alexnet, "classifier.6.bias", Kind::uniform, 1 / std::sqrt(4096.0));
}

TEST(Zoo, SmallerInputsGiveAModelOrASpecError) {
  for (const std::string& name : names()) {
    const Shape standard = [&] {
      const Model model = load_model(name);
      return model.tape.tensor(model.samples[0]).shape;
    }();
    std::int64_t accepted = 0;
    for (std::int64_t size : {1, 2, 7, 16, 31, 32, 63, 64, 224, 227}) {
      try {
        const Model model = load_model(name, {.input = Shape{standard[0], size, size}});
        EXPECT_EQ(model.tape.tensor(model.outputs).shape, Shape{model.classes});
        ++accepted;
      } catch (const SpecError& error) {
        EXPECT_NE(error.pointer.find("/layers/"), std::string::npos) << error.what();
      }
    }
    EXPECT_GE(accepted, 1) << name;
  }
}

TEST(Zoo, IsReadQuickly) {
  // Milliseconds, the best of ten; the bound leaves room for sanitizers and a busy machine.
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    load_model("resnet152");
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  RecordProperty("milliseconds", std::to_string(best));
  EXPECT_LT(best, 50);
}

}  // namespace
}  // namespace arenagrad
