// `sweep` through the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;

TEST(SweepVerb, PointsAreWhatPlanSays) {
  const auto sweep = arenagrad({"sweep", "lenet5", "--batches", "2:6:2", "--modes",
                                "full-batch,per-step", "--steps", "1", "--format", "json"});
  ASSERT_EQ(sweep.code, 0) << sweep.err;
  const auto json = sweep.json();
  ASSERT_EQ(json["points"].size(), 6u);
  for (const auto& point : json["points"]) {
    const auto plan = arenagrad({"plan", "lenet5", "--batch", std::to_string(int(point["batch"])),
                                 "--mode", point["mode"], "--format", "json"})
                          .json();
    for (const auto* key : {"by_category_at_peak", "peak_requested", "peak_granted", "footprint",
                            "reserved", "saved", "saved_per_sample", "saved_fixed"})
      EXPECT_EQ(point["bytes"][key], plan["bytes"][key]) << key;
  }
}

TEST(SweepVerb, DecompositionAddsUp) {
  const auto json = arenagrad({"sweep", "lenet5", "--batches", "1:40", "--format", "json"}).json();
  const auto& d = json["decomposition"]["full-batch"];
  const auto sum = [](const nlohmann::json& by_category) {
    std::int64_t total = 0;
    for (const auto& bytes : by_category) total += bytes.get<std::int64_t>();
    return total;
  };
  const auto& last = json["points"].back();
  EXPECT_EQ(sum(d["fixed"]) + 40 * sum(d["per_sample"]) + sum(d["per_forward"]),
            last["bytes"]["peak_requested"].get<std::int64_t>());
  EXPECT_EQ(d["pieces"].front()["from"], 1);
  EXPECT_EQ(d["pieces"].back()["to"], 40);
  EXPECT_LE(d["valid_from"], d["pieces"].back()["from"]);
  EXPECT_TRUE(json["formula"].is_null());
}

TEST(SweepVerb, AnswersInASentenceWithTheWordsOfTheForum) {
  const auto result = arenagrad({"sweep", "resnet18", "--batches", "4,8,16"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(contains(result.out, " x batch/8")) << result.out;
  EXPECT_TRUE(contains(result.out, "activations outgrow parameters")) << result.out;
}

TEST(SweepVerb, ImageSizesInsteadOfBatches) {
  const auto result = arenagrad(
      {"sweep", "resnet18", "--inputs", "32,64", "--batch", "2", "--eval", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  ASSERT_EQ(json["points"].size(), 2u);
  EXPECT_EQ(json["points"][1]["input"], "3x64x64");
  EXPECT_LT(json["points"][0]["bytes"]["peak_requested"],
            json["points"][1]["bytes"]["peak_requested"]);
  EXPECT_TRUE(json["decomposition"].empty());
}

TEST(SweepVerb, RealRunsHaveThePlannedLedger) {
  const auto json = arenagrad({"sweep", "lenet5", "--batches", "1,3", "--real", "--threads", "1",
                               "--format", "json"})
                        .json();
  EXPECT_EQ(json["backend"], "cpu");
  for (const auto& point : json["points"])
    EXPECT_EQ(point["real"]["planned_equals_observed"], true);
}

TEST(SweepVerb, TheFrontierIsWhatPlanSaysOfEachWay) {
  const auto result = arenagrad(
      {"sweep", "lenet5", "--batches", "4,16", "--steps", "1", "--frontier", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  ASSERT_GT(json["frontier"].size(), 4u);
  int optimal = 0;
  for (const auto& one : json["frontier"]) {
    EXPECT_EQ(one["batch"], 16);
    const auto plan = arenagrad({"plan", "lenet5", "--batch", "16", "--recompute", one["recompute"],
                                 "--format", "json"})
                          .json();
    EXPECT_EQ(one["bytes"]["peak_requested"], plan["bytes"]["peak_requested"]);
    EXPECT_EQ(one["bytes"]["footprint"], plan["bytes"]["footprint"]);
    optimal += one["optimal"].get<bool>();
  }
  EXPECT_EQ(json["frontier"][0]["recompute"], "none");
  EXPECT_EQ(json["frontier"][0]["times"], 1.0);
  EXPECT_EQ(json["frontier"][0]["multiply_adds"], json["points"][1]["multiply_adds"]);
  EXPECT_GE(optimal, 2);
  EXPECT_TRUE(contains(json["answer"], "full-batch, batch 16: of ")) << json["answer"];
  EXPECT_TRUE(arenagrad({"sweep", "lenet5", "--batches", "4", "--format", "json"})
                  .json()["frontier"]
                  .is_null());
}

TEST(SweepVerb, WhatDoesNotFitIsNotOnTheFrontier) {
  const auto swept = [](const std::string& capacity, const std::string& format) {
    auto result = arenagrad({"sweep", "lenet5", "--batches", "8", "--capacity", capacity,
                             "--frontier", "--format", format});
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  };
  const auto whole = swept("1GiB", "json").json();
  std::vector<std::size_t> footprints;
  for (const auto& one : whole["frontier"]) footprints.push_back(one["bytes"]["footprint"]);
  std::ranges::sort(footprints);
  const auto ways = std::to_string(whole["frontier"].size());
  EXPECT_TRUE(contains(whole["answer"], "full-batch, batch 8: of the " + ways + " of " + ways +
                                            " ways to recompute that fit in 1.00 GiB"))
      << whole["answer"];

  const auto none = swept("100KiB", "json").json();
  for (const auto& one : none["frontier"]) EXPECT_EQ(one["optimal"], false);
  EXPECT_TRUE(contains(none["answer"], "full-batch, batch 8: none of " + ways +
                                           " ways to recompute fits in 100.00 KiB"))
      << none["answer"];
  EXPECT_TRUE(contains(swept("100KiB", "md").out, "does not fit"));

  // The one with the least footprint, and no more.
  ASSERT_LT(footprints[0], footprints[1]);
  const auto one_fits = swept(std::to_string(footprints[0]), "json").json();
  int optimal = 0;
  for (const auto& one : one_fits["frontier"]) {
    EXPECT_EQ(one["optimal"], one["bytes"]["footprint"] == footprints[0]);
    optimal += one["optimal"].get<bool>();
  }
  EXPECT_EQ(optimal, 1);
  EXPECT_TRUE(contains(one_fits["answer"], "of " + ways + " ways to recompute one fits in "))
      << one_fits["answer"];
}

TEST(SweepVerb, RowsOfSeveralModesAreToldApartInCsv) {
  const auto csv = arenagrad({"sweep", "lenet5", "--batches", "1:4", "--modes",
                              "full-batch,per-step", "--format", "csv"})
                       .out;
  for (const char* row : {"mode,from,to,", "full-batch,1,", "per-step,1,", "mode,category,fixed,",
                          "full-batch,parameter,", "per-step,parameter,", "per-step,total,"})
    EXPECT_TRUE(contains(csv, row)) << row << " in\n" << csv;
}

TEST(SweepVerb, TheFrontierOfImagesIsAtTheLargest) {
  const auto result = arenagrad({"sweep", "resnet20_cifar", "--inputs", "16,32", "--batch", "2",
                                 "--frontier", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto frontier = result.json()["frontier"];
  for (const auto& one : frontier) EXPECT_EQ(one["input"], "3x32x32");
}

TEST(SweepVerb, ShowsProgressOnATerminalAlone) {
  const std::vector<std::string> words{"sweep", "lenet5", "--batches", "1:3"};
  EXPECT_TRUE(contains(arenagrad(words, {.terminal = true}).err, "2 of 3 points"));
  EXPECT_EQ(arenagrad(words).err, "");
}

TEST(SweepVerb, FormulasAreTextAndLatex) {
  const auto text = arenagrad({"sweep", "lenet5", "--batches", "9", "--formula", "text"});
  EXPECT_TRUE(contains(text.out, "batch 9: ")) << text.out;
  EXPECT_TRUE(contains(text.out, " x batch")) << text.out;
  EXPECT_TRUE(contains(text.out, "  activation: ")) << text.out;
  const auto latex = arenagrad({"sweep", "lenet5", "--batches", "9", "--formula", "latex"});
  EXPECT_TRUE(latex.out.starts_with("M(N) = \\begin{cases}\n")) << latex.out;
  EXPECT_TRUE(contains(latex.out, "\\,N & N = 9 \\\\\n\\end{cases}\n")) << latex.out;
}

/// What a program prints; nothing when it can't be run.
std::string printed(const std::string& command) {
  std::string text;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe)) text += buffer;
    pclose(pipe);
  }
  return text;
}

TEST(SweepVerb, TheScriptComputesWhatPlanSays) {
  if (printed("node --version 2>/dev/null").empty()) GTEST_SKIP() << "no node to run it with";
  const test::TemporaryFolder folder;
  auto script = arenagrad({"sweep", "lenet5", "--batches", "1:12", "--modes",
                           "full-batch,accumulated-graph", "--formula", "js"})
                    .out;
  for (const auto* function : {"peakFullBatch", "peakAccumulatedGraph"})
    for (int batch = 1; batch <= 12; ++batch)
      script += std::string("console.log(String(") + function + "(" + std::to_string(batch) +
                ").total));\n";
  const auto path = folder.write("peak.js", script);
  const auto plans = arenagrad({"sweep", "lenet5", "--batches", "1:12", "--modes",
                                "full-batch,accumulated-graph", "--format", "json"})
                         .json();
  std::string expected;
  for (const auto& point : plans["points"])
    expected += std::to_string(point["bytes"]["peak_requested"].get<std::int64_t>()) + "\n";
  EXPECT_EQ(printed("node " + path), expected);
}

TEST(SweepVerb, RefusesWhatMakesNoSense) {
  const struct {
    std::vector<std::string> flags;
    const char* message;
  } cases[] = {
      {{"--batches", "5:1"}, "--batches: expected A:B, A:B:STEP or a list such as 1,2,4"},
      {{"--batches", "1:9:0"}, "--batches: expected A:B"},
      {{"--batches", "4,2"}, "--batches: expected A:B"},
      {{"--batches", "1:2:3:4"}, "--batches: expected A:B"},
      {{"--batches", "1:99999999"}, "--batches: expected at most 65536 values"},
      {{"--batch", "3"}, "--batch: expected --batches"},
      {{"--inputs", "3", "--batches", "3"}, "--inputs: expected --batch"},
      {{"--inputs", "28", "--formula", "js"}, "--formula: expected --batches"},
      {{"--frontier", "--no-grad"}, "--frontier: expected gradients to recompute for"},
      {{"--frontier", "--formula", "js"}, "--formula: expected it alone, got --frontier as well"},
      {{"--formula", "c"}, "--formula: expected one of text, latex, js, got 'c'"},
      {{"--modes", "fast"}, "--modes: expected one of"},
      {{"--mode", "per-step"}, "unknown flag '--mode' (did you mean '--modes'?)"},
  };
  for (const auto& one : cases) {
    auto words = one.flags;
    words.insert(words.begin(), {"sweep", "lenet5"});
    const auto result = arenagrad(words);
    EXPECT_EQ(result.code, 2) << one.message;
    EXPECT_TRUE(contains(result.err, one.message)) << result.err;
  }
}

TEST(SweepVerb, AModeThatIsRefusedIsNotSwept) {
  const auto result = arenagrad({"sweep", "resnet18", "--batches", "1:4", "--modes", "two-pass"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(result.err, "in train mode")) << result.err;
}

}  // namespace
}  // namespace arenagrad
