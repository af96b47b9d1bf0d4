#include <gtest/gtest.h>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;

TEST(CompareVerb, TheJsonHasModesPairsAndTheReference) {
  const auto result = arenagrad(
      {"compare", "lenet5_digits", "--batch", "5", "--micro-batch", "2", "--format", "json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["modes"].size(), 3u);
  for (const char* mode : {"full-batch", "accumulated-graph", "per-step"}) {
    const auto& m = json["modes"][mode];
    EXPECT_EQ(m["mode"], mode);
    EXPECT_EQ(m["planned_equals_observed"], true);
    EXPECT_TRUE(m["bytes"]["peak_requested"].is_number_unsigned());
    EXPECT_GT(m["bytes"]["host"].get<std::size_t>(), 19'754u * 4);
    EXPECT_TRUE(m["error"].is_null());
  }
  ASSERT_EQ(json["pairs"].size(), 3u);
  for (const auto& pair : json["pairs"]) {
    for (const char* key : {"a", "b", "max_abs", "rel_l2", "max_ulp", "cosine", "flips", "verdict",
                            "worst_parameter"})
      EXPECT_TRUE(pair.contains(key)) << key;
    EXPECT_EQ(pair["verdict"], "equal");
    EXPECT_LE(pair["rel_l2"].get<double>(), 1e-5);
  }
  EXPECT_EQ(json["against_f64"].size(), 3u);
  EXPECT_EQ(json["coupled_layers"], nlohmann::json::array());
  EXPECT_TRUE(json["modes"].contains(json["closest"].get<std::string>()));
}

TEST(CompareVerb, CoupledLayersAreNamedAndNoError) {
  const auto result = arenagrad({"compare", "resnet20_cifar", "--input", "3x8x8", "--batch", "3",
                                 "--micro-batch", "2", "--threads", "1", "--format", "json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(contains(result.err, "not the same computation"));
  EXPECT_TRUE(contains(result.err, "bn1"));
  const auto json = result.json();
  EXPECT_EQ(json["coupled_layers"].size(), 21u);
  EXPECT_EQ(json["pairs"][0]["verdict"], "not the same computation");
  EXPECT_EQ(json["pairs"][2]["verdict"], "equal");
}

TEST(CompareVerb, AModeThatDoesNotFitIsShownAndExitsWithThree) {
  const auto footprint = arenagrad({"plan", "lenet5_digits", "--batch", "8", "--format", "json"})
                             .json()["bytes"]["footprint"]
                             .get<std::size_t>();
  const std::vector<std::string> call = {"compare", "lenet5_digits", "--batch",
                                         "8",       "--capacity",    std::to_string(footprint - 1)};
  const auto table = arenagrad(call);
  EXPECT_EQ(table.code, 3);
  EXPECT_TRUE(contains(table.out, "does not fit"));
  EXPECT_TRUE(contains(table.err, "full-batch did not run: out of memory"));
  auto with_json = call;
  with_json.insert(with_json.end(), {"--format", "json"});
  const auto json = arenagrad(with_json).json();
  EXPECT_EQ(json["modes"]["full-batch"]["error"]["kind"], "out_of_memory");
  EXPECT_TRUE(json["modes"]["per-step"]["error"].is_null());
}

TEST(CompareVerb, ModesAndReferenceCanBeChosen) {
  const auto json = arenagrad({"compare", "lenet5_digits", "--mode", "per-step,full-batch",
                               "--reference", "none", "--format", "json", "--quiet"})
                        .json();
  EXPECT_EQ(json["modes"].size(), 2u);
  EXPECT_EQ(json["pairs"].size(), 1u);
  EXPECT_EQ(json["pairs"][0]["a"], "per-step");
  EXPECT_EQ(json["against_f64"], nlohmann::json::array());
  EXPECT_TRUE(contains(json["no_reference"], "--reference none"));
}

TEST(CompareVerb, SeveralStepsCompareLossCurves) {
  const auto result = arenagrad({"compare", "lenet5_digits", "--batch", "6", "--micro-batch", "4",
                                 "--steps", "5", "--optimizer", "sgd"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(contains(result.out, "loss curves apart"));
}

TEST(CompareVerb, AModeThatWouldBeWrongIsRefusedNotTooLarge) {
  // Batch norm in train mode: two passes would count its running statistics twice.
  const auto result = arenagrad({"compare", "resnet20_cifar", "--batch", "4", "--micro-batch", "2",
                                 "--mode", "full-batch,two-pass", "--reference", "none"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "refused")) << result.out;
  EXPECT_FALSE(contains(result.out, "does not fit")) << result.out;
}

}  // namespace
}  // namespace arenagrad
