// `fit` through the command line.
#include <gtest/gtest.h>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;

TEST(FitVerb, TheLargestBatchFitsInPlanAndTheNextDoesNot) {
  const auto json = arenagrad({"fit", "lenet5", "--memory", "16MiB", "--format", "json"}).json();
  const int largest = json["largest_batch"];
  const auto code_at = [&](int batch) {
    return arenagrad({"plan", "lenet5", "--steps", "2", "--capacity", "16MiB", "--batch",
                      std::to_string(batch)})
        .code;
  };
  EXPECT_GT(largest, 1);
  EXPECT_EQ(code_at(largest), 0);
  EXPECT_EQ(code_at(largest + 1), 3);
  EXPECT_LE(json["footprint_at_largest"], 16 << 20);
  EXPECT_GT(json["footprint_at_next"], 16 << 20);
  EXPECT_EQ(json["fits"].back().back(), largest);
  EXPECT_EQ(json["examined"].back(), json["bound"]);
  EXPECT_TRUE(json["proven"].is_null());
  EXPECT_TRUE(json["error"].is_null());
}

/// A convolution's scratch falls where the batch is cut into other pieces: 4 fail where 5 run.
TEST(FitVerb, FindsALargerBatchThatFitsAboveASmallerOneThatDoesNot) {
  const auto json = arenagrad({"fit", "lenet5", "--memory", "2600KiB", "--format", "json"}).json();
  EXPECT_EQ(json["fits"], nlohmann::json::parse("[[1, 3], [5, 6], [9, 9]]"));
  EXPECT_EQ(json["examined"], nlohmann::json::parse("[1, 47]"));
  EXPECT_EQ(json["largest_batch"], 9);
}

/// An H200 has memory for thousands more; cuDNN's batch norm takes 2^31 - 1 elements.
TEST(FitVerb, StopsWhereAKernelDoes) {
  const auto json = arenagrad({"fit", "resnet18", "--device", "h200", "--workspace", "none",
                               "--quiet", "--format", "json"})
                        .json();
  EXPECT_EQ(json["largest_batch"], 2674);
  EXPECT_EQ(json["bound"], 2674);
  EXPECT_TRUE(contains(arenagrad({"plan", "resnet18", "--batch", "2675", "--device", "h200",
                                  "--workspace", "none", "--quiet"})
                           .err,
                       "batch_norm: expected at most 2147483647 elements in train mode"));
}

/// Where a search ends early, what others compute is judged by what fits, not by where it ended.
TEST(FitVerb, AShortSearchSaysNothingWrong) {
  const auto ask = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"fit", "lenet5", "--memory", "64MiB", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arenagrad(arguments).json();
  };
  const auto whole = ask({}), cut = ask({"--max", "20"}), late = ask({"--budget", "0"});
  ASSERT_GT(whole["largest_batch"], 512);
  EXPECT_FALSE(contains(whole["answer"], "at least"));
  EXPECT_TRUE(contains(cut["answer"], "is at least 20 "));
  EXPECT_TRUE(contains(late["answer"], "is at least "));
  for (std::size_t i = 0; i < whole["formulas"].size(); ++i) {
    EXPECT_EQ(cut["formulas"][i]["batch"], whole["formulas"][i]["batch"]);
    EXPECT_EQ(late["formulas"][i]["batch"], whole["formulas"][i]["batch"]);
  }
  const auto table = arenagrad({"fit", "lenet5", "--memory", "64MiB", "--max", "20"});
  EXPECT_TRUE(contains(table.out, "times the largest looked at, and fits"));
  EXPECT_TRUE(contains(table.out, "largest batch, at least"));
}

/// 8 is below the largest batch, 9, and does not fit.
TEST(FitVerb, ASmallerBatchMayNotFitEither) {
  const auto table = arenagrad({"fit", "lenet5", "--memory", "2600KiB"});
  EXPECT_TRUE(contains(table.out, "times too small, and does not fit")) << table.out;
}

TEST(FitVerb, WaysThatWereStoppedAreNotCompared) {
  const auto result = arenagrad({"fit", "lenet5", "--memory", "16MiB", "--max", "3", "--frontier",
                                 "--format", "json"})
                          .json();
  EXPECT_FALSE(contains(result["answer"], "No way to recompute fits more"));
  EXPECT_TRUE(contains(result["answer"], "fit at least what was looked at"));
  for (const auto& way : result["frontier"]) EXPECT_EQ(way["optimal"], false);
}

/// Of the batch itself, not of the one that stood for it in the search.
TEST(FitVerb, AFrontiersCostIsOfItsBatch) {
  const auto fitted = arenagrad({"fit", "lenet5", "--memory", "64MiB", "--mode", "per-step",
                                 "--max", "5000", "--frontier", "--format", "json"})
                          .json();
  const auto swept =
      arenagrad({"sweep", "lenet5", "--modes", "per-step", "--batches", "5000", "--format", "json"})
          .json();
  const auto& way = fitted["frontier"][0];
  ASSERT_EQ(way["recompute"], "none");
  EXPECT_EQ(way["largest_batch"], 5000);
  EXPECT_EQ(way["multiply_adds"], swept["points"][0]["multiply_adds"]);
  EXPECT_EQ(way["kernel_calls"], swept["points"][0]["kernel_calls"]);
}

/// Optimizer state is born in the first step: what fits is asked of the second.
TEST(FitVerb, PlansThatKeepStateHaveASteadyStepToo) {
  const auto steps = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"plan", "lenet5", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arenagrad(arguments).json()["steps"].get<int>();
  };
  EXPECT_EQ(steps({}), 1);
  EXPECT_EQ(steps({"--optimizer", "sgd"}), 1);
  EXPECT_EQ(steps({"--optimizer", "sgd", "--momentum", "0.9"}), 2);
  EXPECT_EQ(steps({"--optimizer", "adam"}), 2);
  EXPECT_EQ(steps({"--optimizer", "adam", "--steps", "1"}), 1);
  const int largest =
      arenagrad({"fit", "lenet5", "--memory", "16MiB", "--optimizer", "adam", "--format", "json"})
          .json()["largest_batch"];
  EXPECT_EQ(arenagrad({"plan", "lenet5", "--capacity", "16MiB", "--optimizer", "adam", "--batch",
                       std::to_string(largest + 1)})
                .code,
            3);
}

TEST(FitVerb, NamesTheForumsFormulasAndTheirSource) {
  const auto json = arenagrad({"fit", "alexnet", "--memory", "6GiB", "--format", "json"}).json();
  ASSERT_EQ(json["formulas"].size(), 5u);
  for (const auto& formula : json["formulas"]) {
    EXPECT_FALSE(formula["claims"].get<std::string>().empty());
    EXPECT_TRUE(contains(formula["source"], "stackoverflow.com"));
    EXPECT_NEAR(formula["times_largest"].get<double>(),
                formula["batch"].get<double>() / json["largest_batch"].get<double>(), 1e-12);
  }
}

TEST(FitVerb, ProvesIt) {
  const auto result = arenagrad(
      {"fit", "lenet5", "--memory", "2MiB", "--prove", "--threads", "1", "--format", "json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto proven = result.json()["proven"];
  EXPECT_EQ(proven["ran"], true);
  EXPECT_EQ(proven["planned_equals_observed"], true);
  EXPECT_EQ(proven["next_refused"], true);
  EXPECT_TRUE(contains(proven["message"], "out of memory"));
}

TEST(FitVerb, TheFrontierSaysHowFarRecomputationReaches) {
  const auto result = arenagrad({"fit", "lenet5", "--memory", "8MiB", "--max", "200", "--batch",
                                 "60", "--frontier", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  ASSERT_GT(json["frontier"].size(), 3u);
  EXPECT_EQ(json["frontier"][0]["recompute"], "none");
  EXPECT_EQ(json["frontier"][0]["largest_batch"], json["largest_batch"]);
  for (const auto& way : json["frontier"]) {
    const auto alone = arenagrad({"fit", "lenet5", "--memory", "8MiB", "--max", "200",
                                  "--recompute", way["recompute"], "--format", "json"})
                           .json();
    EXPECT_EQ(way["largest_batch"], alone["largest_batch"]) << way;
    EXPECT_EQ(way["footprint"], alone["footprint_at_largest"]) << way;
    EXPECT_EQ(way["all_examined"], true);
    EXPECT_GE(way["times"], 1.0);
    EXPECT_LE(way["times"], 4.0 / 3);
  }
  EXPECT_TRUE(contains(json["answer"], "times the multiply-adds")) << json["answer"];
  EXPECT_TRUE(arenagrad({"fit", "lenet5", "--memory", "2MiB", "--format", "json"})
                  .json()["frontier"]
                  .is_null());
}

TEST(FitVerb, WhatNeverFitsEndsWithThreeAndAReason) {
  const auto result = arenagrad({"fit", "resnet18", "--memory", "64MiB", "--format", "json"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(result.err.starts_with("error: no batch of resnet18 fits in 64.00 MiB"))
      << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["largest_batch"], 0);
  EXPECT_EQ(json["error"]["kind"], "out_of_memory");
  EXPECT_FALSE(json["remedies"].empty());
}

TEST(FitVerb, PerStepIsBoundedByTheBatchAskedFor) {
  const auto json = arenagrad({"fit", "lenet5", "--memory", "4MiB", "--mode", "per-step", "--max",
                               "1000", "--format", "json"})
                        .json();
  EXPECT_EQ(json["largest_batch"], 1000);
  EXPECT_EQ(json["stopped_by_max"], true);
  EXPECT_EQ(json["mode"], "per-step");
}

TEST(FitVerb, TwoAnswersAreTheSame) {
  const auto answer = [] { return arenagrad({"fit", "lenet5", "--memory", "8MiB"}).out; };
  EXPECT_EQ(answer(), answer());
}

TEST(FitVerb, RefusesWhatMakesNoSense) {
  const struct {
    std::vector<std::string> flags;
    const char* message;
  } cases[] = {
      {{}, "--memory: expected a size such as 6GiB, got none"},
      {{"--memory", "much"}, "--memory: expected a size such as 6GiB"},
      {{"--memory", "6GiB", "--capacity", "6GiB"}, "--memory: expected it or --capacity, got both"},
      {{"--memory", "6GiB", "--reserve", "7GiB"}, "--reserve: expected less than the memory"},
      {{"--memory", "6GiB", "--max", "0"}, "--max: expected a whole number of at least 1"},
      {{"--memory", "6GiB", "--max", "9000000000000000000"}, "--max: expected at most"},
      {{"--memory", "6GiB", "--frontier", "--no-grad"},
       "--frontier: expected gradients to recompute for, got --no-grad"},
      {{"--memory", "6GiB", "--plot", "fit.gp"},
       "--plot: expected --frontier, which it draws, got it alone"},
      {{"--memory", "6GiB", "--budget", "-1"}, "--budget: expected a number of at least 0"},
  };
  for (const auto& one : cases) {
    auto words = one.flags;
    words.insert(words.begin(), {"fit", "lenet5"});
    const auto result = arenagrad(words);
    EXPECT_EQ(result.code, 2) << one.message;
    EXPECT_TRUE(contains(result.err, one.message)) << result.err;
  }
}

TEST(FitVerb, AModeThatIsRefusedIsRefusedAtOnce) {
  const auto result = arenagrad({"fit", "resnet18", "--memory", "6GiB", "--mode", "two-pass"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "in train mode")) << result.err;
}

TEST(FitVerb, AGraphIsNotSearchedBeyondWhatItsPlansCost) {
  const auto result = arenagrad({"fit", "lenet5_digits", "--memory", "6GiB", "--mode",
                                 "accumulated-graph", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["largest_batch"], 2048);
}

}  // namespace
}  // namespace arenagrad
