// gpu_check's own parts: what should fail does, and is told.
#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_check/checks.h"
#include "tests/cuda/training.h"
#include "tests/experiments/temporary.h"

namespace arenagrad::cuda_test {
namespace {

using GpuCheck = OnEmulatedGpu;
using Workspace = cudnn::EnginePolicy::Workspace;

TEST_F(GpuCheck, AnotherAnswerOfTheGpuFails) {
  const PlannedFrom from{"its properties", cuda::device_properties(0), true};
  Json alike, other;
  DeviceAnswers same{cudnn::EnginePolicy{}};
  EXPECT_EQ(check_engines("lenet5_digits", 4, Layout::nchw, from, same, alike), Verdict::passed);
  EXPECT_GT(alike["questions"], 6);
  EXPECT_GT(alike["largest_workspace"], 0);
  // A GPU that would take other engines than the plan did.
  DeviceAnswers frugal{cudnn::EnginePolicy{.workspace = Workspace::none}};
  EXPECT_EQ(check_engines("lenet5_digits", 4, Layout::nchw, from, frugal, other), Verdict::failed);
  ASSERT_FALSE(other["disagreements"].empty());
  const Json& first = other["disagreements"][0];
  EXPECT_NE(first["planned"]["workspace"], first["device"]["workspace"]);
}

TEST_F(GpuCheck, PropertiesAreHeldAgainstTheProfile) {
  const DeviceProfile profile = load_device("h200");
  std::string properties;
  Json details;
  EXPECT_EQ(check_properties(&profile, properties, details), Verdict::passed);
  EXPECT_EQ(properties, cuda::device_properties(0));
  EXPECT_EQ(details["differences"]["deviceName"]["profile"], "NVIDIA H200");
  EXPECT_EQ(details["differences"]["deviceName"]["device"], "emulated GPU");
  EXPECT_FALSE(details["differences"].contains("deviceVer"));  // 9.0, both
}

TEST_F(GpuCheck, MemoryIsTheArenaAndTheContext) {
  EXPECT_TRUE(is_arena_and_context({5, 30, 30, 30}, 20, 10));  // the first step loads lazily
  EXPECT_FALSE(is_arena_and_context({30, 30, 31, 30}, 20, 10));
  EXPECT_FALSE(is_arena_and_context({30, 30, 30, 29}, 20, 10));
  EXPECT_FALSE(is_arena_and_context({31, 31, 31, 31}, 20, 10));
  EXPECT_FALSE(is_arena_and_context({30, 30}, 20, 10));
  EXPECT_FALSE(is_arena_and_context({}, 0, 0));
}

TEST_F(GpuCheck, PyTorchsResultIsTheOneOfTheSameStep) {
  const Json pytorch = {{"results",
                         {{{"model", "lenet5_digits"},
                           {"batch", 4},
                           {"channels_last", true},
                           {"seconds", 1.0},
                           {"peak_allocated", 1},
                           {"peak_reserved", 2}},
                          {{"model", "lenet5_digits"},
                           {"batch", 4},
                           {"channels_last", false},
                           {"seconds", 5.0},
                           {"peak_allocated", 3072},
                           {"peak_reserved", 4096}}}}};
  Json details;
  EXPECT_EQ(check_time("lenet5_digits", 4, Layout::nchw, pytorch, details), Verdict::passed);
  EXPECT_EQ(details["pytorch"]["seconds"], 5.0);
  EXPECT_GT(details["seconds"]["step"], 0);
  const std::string summary = details["summary"];
  EXPECT_NE(summary.find("PyTorch 5000.00 ms"), std::string::npos) << summary;
  EXPECT_NE(summary.find("allocated 3.00 KiB, reserved 4.00 KiB"), std::string::npos) << summary;
  // Where PyTorch ran out of memory, ours is timed all the same.
  const Json failed = {{"results",
                        {{{"model", "lenet5_digits"},
                          {"batch", 4},
                          {"channels_last", false},
                          {"seconds", nullptr},
                          {"error", "too large"}}}}};
  Json beside;
  EXPECT_EQ(check_time("lenet5_digits", 4, Layout::nchw, failed, beside), Verdict::passed);
  EXPECT_NE(std::string(beside["summary"]).find("PyTorch: too large"), std::string::npos);
}

TEST_F(GpuCheck, AReportIsWholeAfterEveryCheck) {
  const test::TemporaryFolder folder;
  const auto read = [&] { return Json::parse(test::read_file(folder.path("gpu_check.json"))); };
  Report report(folder.path("."), {{"schema", "a"}});
  EXPECT_EQ(read()["checks"].size(), 0u);
  report.check("good", [](Json& details) {
    details["summary"] = "fine";
    details["figure"] = 7;
    return Verdict::passed;
  });
  report.check("absent", [](Json&) { return Verdict::left_out; });
  EXPECT_FALSE(report.any_failed());
  report.check("thrown", [](Json&) -> Verdict { throw Error("why"); });
  EXPECT_TRUE(report.any_failed());
  const Json json = read();
  EXPECT_EQ(json["schema"], "a");
  ASSERT_EQ(json["checks"].size(), 3u);
  EXPECT_EQ(json["checks"][0]["verdict"], "passed");
  EXPECT_EQ(json["checks"][0]["summary"], "fine");
  EXPECT_EQ(json["checks"][0]["details"], Json({{"figure", 7}}));
  EXPECT_EQ(json["checks"][1]["verdict"], "left_out");
  EXPECT_EQ(json["checks"][2]["verdict"], "failed");
  EXPECT_EQ(json["checks"][2]["summary"], "why");
}

}  // namespace
}  // namespace arenagrad::cuda_test
