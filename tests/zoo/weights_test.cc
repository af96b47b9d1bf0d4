// Layers that share parameters: these count once.
#include <gtest/gtest.h>

#include "tests/zoo/support.h"

namespace arenagrad {
namespace {

const TapeNode& node(const Model& model, const std::string& name) {
  return model.tape.node(model.tape.find_node(name).value());
}

constexpr const char* kConv = R"("op": "conv2d", "out_channels": 3, "kernel": 3, "padding": 1)";
constexpr std::int64_t kConvElements = 3 * 3 * 9 + 3;
constexpr std::int64_t kOutElements = 192 * 4 + 4;

TEST(Weights, ALayerAppliedTwiceCountsOnce) {
  const std::string conv(kConv);
  const Model model =
      parse(net(R"({"name": "a", )" + conv + R"(}, {"name": "b", )" + conv +
                R"(, "weights": "a"}, {"name": "c", )" + conv + R"(, "weights": "b"})"));
  EXPECT_EQ(model.tape.parameter_count(), kConvElements + kOutElements);
  EXPECT_EQ(node(model, "b").parameters, node(model, "a").parameters);
  EXPECT_EQ(node(model, "c").parameters, node(model, "a").parameters);
  EXPECT_EQ(model.tape.parameter(node(model, "c").parameters[0]).name, "a.weight");
}

TEST(Weights, BatchNormSharesItsStatisticsToo) {
  const Model model = parse(net(R"({"name": "a", "op": "batch_norm"},
                                   {"name": "b", "op": "batch_norm", "weights": "a"})"));
  EXPECT_EQ(node(model, "b").states, node(model, "a").states);
  EXPECT_EQ(model.tape.states().size(), node(model, "a").states.size());
}

TEST(Weights, RoundsCanShare) {
  const auto spec = [](const std::string& shared) {
    return net(R"({"name": "g", "repeat": 5, )" + shared + R"("layers": [{"name": "c", )" +
               std::string(kConv) + R"(}, {"name": "n", "layers": [{"op": "batch_norm"}]}]})");
  };
  EXPECT_EQ(parse(spec("")).tape.parameter_count(), 5 * (kConvElements + 6) + kOutElements);
  EXPECT_EQ(parse(spec(R"("shared": false, )")).tape.parameter_count(),
            5 * (kConvElements + 6) + kOutElements);
  const Model model = parse(spec(R"("shared": true, )"));
  EXPECT_EQ(model.tape.parameter_count(), kConvElements + 6 + kOutElements);
  EXPECT_EQ(node(model, "g.4.n.0").parameters, node(model, "g.0.n.0").parameters);
  EXPECT_EQ(node(model, "g.4.c").multiply_adds, node(model, "g.0.c").multiply_adds);
}

constexpr const char* kTower = R"("blocks": {"tower": {"layers": [
    {"name": "conv", "op": "conv2d", "out_channels": 2, "kernel": 3},
    {"name": "norms", "layers": [{"op": "batch_norm"}, {"op": "relu"}]},
    {"op": "flatten"}, {"name": "fc", "op": "linear", "out_features": 5}]}}, )";

TEST(Weights, BlocksShareLayerByLayer) {
  const std::string layers = R"(
      {"name": "one", "block": "tower", "in": "left"},
      {"name": "two", "block": "tower", "in": "right", "weights": "one"},
      {"name": "both", "op": "concat", "in": ["one", "two"]},
      {"name": "out", "op": "linear", "out_features": 2}]})";
  const Model model =
      parse(R"({"inputs": {"left": [1, 8, 8], "right": [1, 8, 8]}, "classes": 2, )" +
            std::string(kTower) + R"("layers": [)" + layers);
  EXPECT_EQ(model.tape.parameter_count(), (2 * 9 + 2) + 4 + (72 * 5 + 5) + (10 * 2 + 2));
  for (const char* layer : {"conv", "norms.0", "fc"}) {
    EXPECT_EQ(node(model, std::string("two.") + layer).parameters,
              node(model, std::string("one.") + layer).parameters);
  }
}

TEST(Weights, NamesAreFoundInsideFirst) {
  // In a group "c" is the group's; the model's own is found when the group has none.
  const std::string conv(kConv);
  const Model model = parse(
      net(R"({"name": "c", )" + conv + R"(}, {"name": "g", "layers": [{"name": "c", )" + conv +
          R"(}, {"name": "d", )" + conv + R"(, "weights": "c"}]}, {"name": "h", "layers": [
                {"name": "e", )" +
          conv + R"(, "weights": "c"}, {"name": "f", )" + conv + R"(, "weights": "g.d"}]})"));
  EXPECT_EQ(node(model, "g.d").parameters, node(model, "g.c").parameters);
  EXPECT_EQ(node(model, "h.e").parameters, node(model, "c").parameters);
  EXPECT_EQ(node(model, "h.f").parameters, node(model, "g.c").parameters);
  EXPECT_EQ(model.tape.parameter_count(), 2 * kConvElements + kOutElements);
}

}  // namespace
}  // namespace arenagrad
