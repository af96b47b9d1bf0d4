// The program with an emulated GPU behind it. cuDNN's answers come from a file: the program would
// load a real one.
#include "allocator/fnv1a.h"
#include "kernels/cuda/device.h"
#include "tests/cli/support.h"
#include "tests/cuda/training.h"
#include "zoo/engines_file.h"

namespace arenagrad::cuda_test {
namespace {

using test::arenagrad;
using test::contains;
using test::Outcome;

constexpr const char* kSpec = R"({"name": "small", "input": [2, 6, 6], "classes": 4, "layers": [
    {"name": "conv1", "op": "conv2d", "out_channels": 5, "kernel": 3, "padding": 1},
    {"name": "relu1", "op": "relu"},
    {"name": "flatten", "op": "flatten"},
    {"name": "fc", "op": "linear", "out_features": 4}]})";

class OnTheCommandLine : public OnEmulatedGpu {
 protected:
  /// The verb on the small net, on the GPU, with what else is wanted.
  Outcome call(const std::string& verb, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{verb,      spec_, "--device", "cuda",
                                       "--batch", "4",   "--json",   "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arenagrad(arguments);
  }
  /// A folder without cuDNN.
  std::string nowhere() const { return folder_.path(""); }
  /// The emulated cuDNN's answers for that net.
  std::string engines() const {
    const GpuUnderTest gpu;
    Settings settings;
    settings.plan.batching = {4, 4};
    settings.profile = gpu.profile();
    run_dry(parse_model(kSpec, "small.json"), settings);
    Fnv1a hash;
    hash.add(cuda::device_properties(0));
    const EnginesFile file{91900, "cuda:0", hash.text(), {}, gpu.planner().answers()};
    return folder_.write("engines.json", to_text(file));
  }

 private:
  const test::TemporaryFolder folder_;
  const std::string spec_ = folder_.write("small.json", kSpec);
};

TEST_F(OnTheCommandLine, ARunTrains) {
  const Outcome outcome = call("run", {"--engines-from", engines(), "--cudnn", nowhere()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["backend"], "cuda");
  EXPECT_EQ(outcome.json()["planned_equals_observed"], true);
}

/// Where nothing ran, too, the JSON says what would have.
TEST_F(OnTheCommandLine, WhatDoesNotFitWasTheGpus) {
  const std::string answers = engines();
  for (const char* verb : {"run", "compare"}) {
    const Outcome outcome =
        call(verb, {"--engines-from", answers, "--cudnn", nowhere(), "--capacity", "64KiB"});
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(outcome.json()["backend"], "cuda") << verb;
  }
}

/// Before the first step: no engine is at hand to compute a convolution with.
TEST_F(OnTheCommandLine, WithoutCudnnARunIsRefused) {
  for (const char* verb : {"run", "compare"}) {
    const Outcome outcome = call(verb, {"--cudnn", nowhere()});
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.err,
                         "cuda:0: expected a plan that has an engine for every convolution, got "
                         "one without: workspace of "))
        << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "nobody here knows it (cuDNN: expected libcublasLt.so.13"))
        << outcome.err;
  }
}

/// What the strategy leaves unknown is null in JSON, "opaque" in tables; the counters are there.
TEST_F(OnTheCommandLine, AnOpaqueRunSaysWhatItDoesNotKnow) {
  const std::vector<std::string> more{"--engines-from", engines(),    "--cudnn",
                                      nowhere(),        "--strategy", "pool-async"};
  const Outcome outcome = call("run", more);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["strategy"], "pool-async");
  EXPECT_EQ(json["planned_equals_observed"], true);
  EXPECT_EQ(json["balanced"], true);
  for (const char* key : {"peak_granted", "footprint", "reserved", "unaccounted"})
    EXPECT_TRUE(json["bytes"][key].is_null()) << key;
  EXPECT_EQ(json["pool"]["used"], 0);
  EXPECT_GE(json["pool"]["used_high"], json["bytes"]["peak_requested"]);
  EXPECT_GE(json["pool"]["reserved_high"], json["pool"]["used_high"]);
  EXPECT_TRUE(contains(json["answer"].get<std::string>(), ", the pool used ")) << json["answer"];

  EXPECT_TRUE(
      call("run", {"--engines-from", engines(), "--cudnn", nowhere(), "--strategy", "best-fit"})
          .json()["pool"]
          .is_null());
}

TEST_F(OnTheCommandLine, AnOpaqueRunThatDoesNotFitIsAResult) {
  const Outcome outcome = call("run", {"--engines-from", engines(), "--cudnn", nowhere(),
                                       "--strategy", "pool-async", "--capacity", "64KiB"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  const auto error = outcome.json()["error"];
  for (const char* key : {"granted", "needed", "footprint", "reserved", "free", "largest_hole",
                          "footprint_without_limit"})
    EXPECT_TRUE(error[key].is_null()) << key;
  EXPECT_TRUE(error["waste"]["external"].is_null());
  EXPECT_FALSE(error["alternatives"].empty());
}

}  // namespace
}  // namespace arenagrad::cuda_test
