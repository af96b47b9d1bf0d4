// Each verb in process: what stdout carries in each format, exit codes, notes.
#include <gtest/gtest.h>

#include "allocator/strategy.h"
#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;
using test::lines;

const std::vector<std::vector<std::string>> kCalls = {
    {"models"},
    {"summary", "lenet5_digits"},
    {"plan", "lenet5_digits", "--batch", "4"},
    {"run", "lenet5_digits", "--batch", "4"},
    {"compare", "lenet5_digits", "--batch", "4", "--micro-batch", "3"}};

std::vector<std::string> with(std::vector<std::string> call, std::vector<std::string> more) {
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

TEST(Verbs, TheLastLineIsTheAnswerInASentence) {
  for (const auto& call : kCalls)
    for (const char* format : {"table", "md"}) {
      const auto result = arenagrad(with(call, {"--format", format}));
      ASSERT_EQ(result.code, 0) << call[0] << result.err;
      EXPECT_EQ(result.out.back(), '\n');
      EXPECT_TRUE(lines(result.out).back().ends_with(".")) << lines(result.out).back();
      EXPECT_GT(lines(result.out).back().size(), 40u);
    }
}

TEST(Verbs, JsonIsOneDocumentWithTheSameHeader) {
  for (const auto& call : kCalls) {
    const auto json = arenagrad(with(call, {"--format", "json"})).json();
    EXPECT_EQ(json["schema"], "arenagrad." + call[0] + "/1");
    EXPECT_TRUE(json["version"].is_string());
    EXPECT_EQ(json["argv"][0], "arenagrad");
    EXPECT_EQ(json["argv"][1], call[0]);
    EXPECT_TRUE(json["answer"].is_string());
    if (call[0] == "models") continue;
    EXPECT_EQ(json["spec"]["path"], "lenet5_digits");
    EXPECT_EQ(json["spec"]["hash"].get<std::string>().size(), 16u);
    EXPECT_EQ(json["seed"], 0);
    EXPECT_TRUE(json["backend"].is_string());
    EXPECT_EQ(json["name"], "lenet5_digits");
  }
}

TEST(Verbs, JsonOnStdoutIsAloneAndInAFileIsTheSame) {
  test::TemporaryFolder folder;
  const auto file = folder.path("plan.json");
  const auto call = with(kCalls[2], {"--json", file});
  const auto table = arenagrad(call);
  EXPECT_TRUE(contains(table.out, "books balanced"));
  const auto written = nlohmann::json::parse(test::read_file(file));
  auto alone = arenagrad(with(kCalls[2], {"--json", "-"})).json();
  alone["argv"] = written["argv"];
  EXPECT_EQ(alone, written);
}

TEST(Verbs, CsvHasPlainNumbers) {
  const auto result = arenagrad({"summary", "lenet5_digits", "--format", "csv"});
  const auto text = lines(result.out);
  EXPECT_EQ(text[0], "name,op,output,parameters,multiply_adds,output_bytes,saved,workspace\r");
  EXPECT_TRUE(text[1].starts_with("conv1,conv2d,6x8x8,60,3456,1536,256,")) << text[1];
  EXPECT_TRUE(contains(result.err, "note: lenet5_digits: 19,754 parameters"));
  const auto plan = arenagrad(with(kCalls[2], {"--format", "csv", "--quiet"}));
  EXPECT_EQ(plan.err, "");
  EXPECT_TRUE(contains(plan.out, "\r\nbytes.persistent,79016\r\n"));
}

TEST(Verbs, ColourOnlyWhereItIsWelcome) {
  EXPECT_TRUE(contains(arenagrad(kCalls[2], {.colour = true}).out, "\033[1m"));
  for (const auto& call : kCalls) {
    const auto plain = arenagrad(call);
    EXPECT_FALSE(contains(plain.out + plain.err, "\033"));
  }
}

TEST(Verbs, ProgressIsDrawnOnATerminalUnlessQuiet) {
  EXPECT_TRUE(contains(arenagrad(kCalls[3], {.terminal = true}).err, "step 1 of 1"));
  EXPECT_EQ(arenagrad(with(kCalls[3], {"--quiet"}), {.terminal = true}).err, "");
  EXPECT_EQ(arenagrad(kCalls[3]).err, "");
}

TEST(Verbs, InterruptedRunsExitWith130) {
  const std::atomic<bool> interrupted{true};
  for (const auto i : {3, 4}) {
    const auto result =
        arenagrad(kCalls[static_cast<std::size_t>(i)], {.interrupted = &interrupted});
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: interrupted\n");
  }
}

TEST(Models, ListsTheZooWithItsParameters) {
  const auto json = arenagrad({"models", "--format", "json"}).json();
  std::map<std::string, std::int64_t> parameters;
  for (const auto& model : json["models"]) parameters[model["name"]] = model["parameters"];
  EXPECT_EQ(parameters["resnet18"], 11'689'512);
  EXPECT_EQ(parameters["alexnet"], 61'100'840);
  EXPECT_EQ(parameters["vgg16"], 138'357'544);
  EXPECT_EQ(parameters["lenet5_digits"], 19'754);
}

TEST(Plan, TheJsonHasEveryKeyAndBytesAreIntegers) {
  const auto json = arenagrad(with(kCalls[2], {"--format", "json", "--top", "3"})).json();
  for (const char* key : {"name", "device", "dtype", "mode", "policy", "strategy", "optimizer",
                          "batch", "micro_batch", "parameters", "balanced",
                          "planned_equals_observed", "bytes", "peak_at", "top", "loss", "seconds"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key :
       {"persistent", "saved", "saved_per_sample", "saved_fixed", "peak_requested", "peak_granted",
        "footprint", "reserved", "lower_bound", "aligned_bound", "unaccounted", "context", "host"})
    EXPECT_TRUE(json["bytes"][key].is_number_unsigned()) << key;
  std::size_t sum = 0;
  for (const auto& [category, bytes] : json["bytes"]["by_category_at_peak"].items()) {
    EXPECT_TRUE(bytes.is_number_unsigned()) << category;
    sum += bytes.get<std::size_t>();
  }
  EXPECT_EQ(json["bytes"]["by_category_at_peak"].size(), 10u);
  EXPECT_EQ(sum, json["bytes"]["peak_requested"]);
  EXPECT_EQ(json["top"].size(), 3u);
  for (const char* key : {"step", "phase", "layer"}) EXPECT_TRUE(json["peak_at"].contains(key));
  for (const char* key : {"name", "shape", "category", "bytes", "born", "dies"})
    EXPECT_TRUE(json["top"][0].contains(key)) << key;
  EXPECT_EQ(json["balanced"], true);
  EXPECT_TRUE(json["planned_equals_observed"].is_null());
  EXPECT_EQ(json["parameters"], 19'754);
}

TEST(Plan, ResNet18UnderPyTorchsPolicySavesWhatPyTorchSaves) {
  const std::pair<const char*, std::size_t> expected[] = {{"full-batch", 1'419'804'676},
                                                          {"accumulated-graph", 1'419'919'888},
                                                          {"per-step", 354'979'972}};
  for (const auto& [mode, bytes] : expected)
    EXPECT_EQ(arenagrad({"plan", "resnet18", "--policy", "pytorch", "--batch", "64",
                         "--micro-batch", "16", "--mode", mode, "--format", "json"})
                  .json()["bytes"]["saved"],
              bytes)
        << mode;
}

TEST(Plan, AnyBatchHasAPlanBeyondWhatAnyMachineHolds) {
  for (const auto& strategy : strategies()) {
    if (strategy.searches) continue;  // slow, the same
    SCOPED_TRACE(strategy.name);
    const auto result = arenagrad({"plan", "resnet18", "--batch", "1000000000", "--strategy",
                                   std::string(strategy.name), "--format", "json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto bytes = result.json()["bytes"];
    EXPECT_GT(bytes["lower_bound"].get<std::size_t>(), std::size_t{1} << 54);
    EXPECT_GE(bytes["footprint"], bytes["aligned_bound"]);
  }
}

TEST(Run, MeasuresForRealWhatWasPlanned) {
  const auto json =
      arenagrad({"run", "lenet5_digits", "--batch", "5", "--micro-batch", "2", "--mode", "per-step",
                 "--steps", "3", "--optimizer", "sgd", "--momentum", "0.9", "--format", "json"})
          .json();
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["planned_equals_observed"], true);
  EXPECT_EQ(json["losses"].size(), 3u);
  EXPECT_EQ(json["loss"], json["losses"][2]);
  for (const char* key : {"forward", "backward", "update", "step_median"})
    EXPECT_GT(json["seconds"][key].get<double>(), 0) << key;
}

TEST(Run, DataIsNamedOnStderr) {
  const auto result = arenagrad({"run", "lenet5_digits", "--batch", "4", "--data",
                                 test::digits("train-images-idx3-ubyte"), "--labels",
                                 test::digits("train-labels-idx1-ubyte")});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "note: data: 1437 images of 8x8, values divided by their largest, 16\n");
}

TEST(Run, WhatTheMachineCannotHoldIsNotStarted) {
  const auto result = arenagrad(
      {"run", "lenet5", "--batch", "100000000", "--mode", "full-batch", "--format", "json"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(contains(result.err, "not enough memory on this machine"));
  EXPECT_EQ(result.json()["error"]["kind"], "not_enough_memory");
  const auto json = result.json();
  const auto settings = arenagrad({"plan", "lenet5", "--format", "json"}).json();
  for (const char* key : {"device", "layout", "dtype", "mode", "policy", "strategy", "optimizer",
                          "recompute", "run", "calibrate", "steps", "capacity"})
    EXPECT_TRUE(json.contains(key) && json[key] == settings[key]) << key;
  EXPECT_EQ(json["batch"], 100'000'000);
  EXPECT_TRUE(json.contains("timeline") && json["timeline"].is_null());
  EXPECT_GT(result.json()["error"]["arena"].get<std::size_t>(), std::size_t{1} << 40);
}

TEST(OutOfMemory, OneByteBelowTheFootprintIsExplained) {
  const auto footprint = arenagrad(with(kCalls[2], {"--format", "json"}))
                             .json()["bytes"]["footprint"]
                             .get<std::size_t>();
  for (const char* verb : {"plan", "run"}) {
    const std::vector<std::string> call = {verb, "lenet5_digits", "--batch", "4", "--capacity"};
    EXPECT_EQ(arenagrad(with(call, {std::to_string(footprint)})).code, 0);
    const auto table = arenagrad(with(call, {std::to_string(footprint - 1)}));
    EXPECT_EQ(table.code, 3);
    for (const char* words : {"does not fit", "asks for", "largest hole", "capacity"})
      EXPECT_TRUE(contains(table.err, words) && contains(table.out, words)) << words;
    const auto json = arenagrad(with(call, {std::to_string(footprint - 1), "--json", "-"})).json();
    EXPECT_EQ(json["device"], "cpu");
    const auto& error = json["error"];
    EXPECT_EQ(error["kind"], "out_of_memory");
    for (const char* key :
         {"tensor", "layer", "category", "shape", "live", "alternatives", "message", "phase",
          "device", "parameters", "top", "footprint_without_limit"})
      EXPECT_TRUE(error.contains(key)) << key;
    for (const char* key : {"requested", "granted", "footprint", "largest_hole", "capacity",
                            "lower_bound", "aligned_bound", "live_total", "needed", "reserved"})
      EXPECT_TRUE(error[key].is_number_unsigned()) << key;
    for (const char* key : {"fits_without_fragmentation", "whole_plan", "system_refused"})
      EXPECT_TRUE(error[key].is_boolean()) << key;
    EXPECT_EQ(error["live_total"].get<std::size_t>() +
                  error["waste"]["internal"].get<std::size_t>() +
                  error["waste"]["external"].get<std::size_t>(),
              error["footprint"]);
    ASSERT_EQ(error["top"].size(), 10u);
    for (const char* key : {"name", "shape", "category", "bytes", "born", "dies"})
      EXPECT_TRUE(error["top"][0].contains(key)) << key;
  }
}

TEST(OutOfMemory, TheTablesReachTheTerminalOnceWhereverStdoutGoes) {
  const std::vector<std::string> call = {"plan", "lenet5_digits", "--batch",
                                         "4",    "--capacity",    "100KiB"};
  const std::string table = "other strategies on the same run";
  const auto err = [&](std::vector<std::string> more, const test::Surroundings& around) {
    const auto result = arenagrad(with(call, std::move(more)), around);
    EXPECT_EQ(result.code, 3);
    EXPECT_EQ(lines(result.err)[0].substr(0, 7), "error: ");
    return result.err;
  };
  const test::Surroundings piped{.terminal = true};
  for (const char* title : {"where the memory was", "largest live buffers when it was refused (10)",
                            "live when it was refused", "other strategies on the same run"})
    EXPECT_TRUE(contains(err({}, piped), title)) << title;
  EXPECT_TRUE(contains(err({"--format", "md"}, piped), table));
  EXPECT_FALSE(contains(err({}, {.terminal = true, .out_is_terminal = true}), table));
  EXPECT_FALSE(contains(err({}, {}), table));
  EXPECT_FALSE(contains(err({"--quiet"}, piped), table));
  EXPECT_FALSE(contains(err({"--format", "json"}, piped), table));
  EXPECT_FALSE(contains(err({"--json", "-"}, piped), table));
}

TEST(OutOfMemory, APlanIsNotSaidToBeEmpty) {
  const auto result = arenagrad({"plan", "lenet5_digits", "--batch", "4", "--strategy",
                                 "plan:greedy-size", "--capacity", "100KiB"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(contains(result.err, "the plan is reserved as a whole and needs ")) << result.err;
  EXPECT_FALSE(contains(result.err + result.out, " 0 B"));
  EXPECT_TRUE(contains(result.out, "largest live buffers at the peak (10)"));
}

}  // namespace
}  // namespace arenagrad
