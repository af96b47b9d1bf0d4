// --device and its company on the command line. Nothing here needs cuDNN: --cudnn points nowhere.
#include <filesystem>

#include "tests/cli/support.h"

namespace arenagrad::test {
namespace {

std::string nowhere() {
  const std::string folder = ::testing::TempDir() + "arenagrad_cli_nowhere";
  std::filesystem::create_directories(folder);
  return folder;
}

std::string error_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  return lines(outcome.err).empty() ? "" : lines(outcome.err).front();
}

TEST(Devices, ListsWhatIsHereAndTheProfiles) {
  const Outcome outcome = arenagrad({"devices", "--json", "-"});
  EXPECT_EQ(outcome.code, 0);
  const auto json = outcome.json();
  EXPECT_EQ(json["schema"], "arenagrad.devices/1");
  EXPECT_EQ(json["devices"][0]["name"], "cpu");
  EXPECT_EQ(json["devices"].size() == 1, json["no_gpu"].is_string());
  bool h200 = false;
  for (const auto& profile : json["profiles"])
    if (profile["name"] == "h200") {
      h200 = true;
      EXPECT_EQ(profile["memory"], 150109880320u);
      EXPECT_EQ(profile["multiprocessors"], 132);
    }
  EXPECT_TRUE(h200);
  EXPECT_TRUE(contains(arenagrad({"devices"}).out, "rtx4090"));
}

TEST(Devices, PlansWithoutCudnnSayWhatIsMissing) {
  const Outcome outcome =
      arenagrad({"plan", "lenet5", "--device", "h200", "--cudnn", nowhere(), "--json", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["device"], "h200");
  EXPECT_EQ(outcome.json()["workspace_included"], false);
  EXPECT_EQ(outcome.json()["backend"], "none");
  ASSERT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "note: workspace of ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "is not included")) << outcome.err;
  EXPECT_EQ(arenagrad({"plan", "lenet5", "--json", "-"}).json()["workspace_included"], true);

  for (const char* verb : {"summary", "allocators"}) {
    const Outcome other =
        arenagrad({verb, "lenet5", "--device", "t4", "--cudnn", nowhere(), "--json", "-"});
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.json()["device"], "t4");
    EXPECT_TRUE(contains(other.err, "is not included")) << other.err;
  }
}

TEST(Devices, AProfileIsNotAMachine) {
  for (const char* verb : {"run", "compare"})
    EXPECT_EQ(error_of(arenagrad({verb, "lenet5", "--device", "h200"})),
              "error: --device: expected a device of this machine to compute on (cpu, cuda), got "
              "h200, a profile: it can be planned for (arenagrad plan), not run");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"sweep", "lenet5", "--batches", "1:2", "--real"},
        std::vector<std::string>{"fit", "lenet5", "--prove"}}) {
    auto with_device = words;
    with_device.insert(with_device.end(), {"--device", "h200"});
    EXPECT_EQ(error_of(arenagrad(with_device)),
              "error: --device: expected a device of this machine to compute on (cpu, cuda), got "
              "h200, a profile: it can be planned for (arenagrad plan), not run");
  }
}

/// With no workspace there is nothing to ask: as fast as for the processor, and it says so.
TEST(Devices, AFitWithoutWorkspaceAsksNobody) {
  const std::vector<std::string> words{"fit",      "resnet18", "--memory",    "2GiB",
                                       "--device", "h200",     "--workspace", "none",
                                       "--cudnn",  nowhere(),  "--json",      "-"};
  const Outcome outcome = arenagrad(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["engines_asked"], false);
  // One line, and none about workspace that nobody knows.
  EXPECT_EQ(outcome.err,
            "note: no engine was asked about: each convolution is taken to have one without "
            "workspace; plan --device h200 --workspace none asks cuDNN whether it has\n");
  const auto largest = outcome.json()["largest_batch"].get<int>();
  EXPECT_GT(largest, 32);

  auto asking = words;
  asking.erase(asking.begin() + 6, asking.begin() + 8);
  const Outcome other = arenagrad(asking);
  EXPECT_EQ(other.json()["engines_asked"], true);
  EXPECT_TRUE(contains(other.err, "is not included")) << other.err;
  EXPECT_TRUE(arenagrad({"fit", "lenet5", "--memory", "2MiB", "--json", "-"})
                  .json()["engines_asked"]
                  .is_null());
}

TEST(Devices, FlagsThatMakeNoSense) {
  const auto plan = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", "lenet5"});
    return error_of(arenagrad(more));
  };
  EXPECT_EQ(plan({"--device", "h20"}),
            "error: h20: no such device: expected cpu, cuda, cuda:N, the name of a profile, or a "
            "profile's file, found none of them (did you mean 'h200'?)");
  EXPECT_EQ(plan({"--device", "cuda:1x"}),
            "error: --device: expected cuda:N with a GPU's number, got 'cuda:1x'");
  EXPECT_EQ(plan({"--engines"}), "error: --engines: expected a GPU as --device, got cpu");
  EXPECT_EQ(plan({"--layout", "nhwc"}),
            "error: --layout nhwc: expected a GPU as --device, got cpu");
  EXPECT_EQ(plan({"--workspace", "none"}),
            "error: --workspace, --allow-tf32 and --allow-nondeterministic: expected a GPU as "
            "--device, got cpu");
  EXPECT_EQ(plan({"--device", "h200", "--workspace", "some"}),
            "error: --workspace: expected heuristic, none or limit:SIZE, got 'some'");
  EXPECT_EQ(plan({"--device", "h200", "--layout", "chwn"}),
            "error: --layout: expected nchw or nhwc, got 'chwn'");
  EXPECT_TRUE(
      contains(plan({"--device", "h200", "--workspace", "limit:much"}), "--workspace limit"));
  EXPECT_TRUE(contains(plan({"--device", "h200", "--engines-from", "nowhere.json"}),
                       "nowhere.json: cannot be opened"));
  const Outcome outcome = arenagrad({"plan", "lenet5", "--device", "h200", "--cudnn", nowhere(),
                                     "--save-engines", nowhere() + "/none.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "expected answers of cuDNN to keep, got none")) << outcome.err;
}

/// A strategy that doesn't say where buffers lie is for runs on a GPU.
TEST(Devices, AnOpaqueStrategyIsTheirs) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--strategy", "pool-async"});
    return error_of(arenagrad(arguments));
  };
  const std::string planned =
      "error: --strategy: expected one that says where buffers lie, got pool-async, which is "
      "opaque: it can be run with (arenagrad run --device cuda), not planned or compared";
  EXPECT_EQ(error({"plan", "lenet5"}), planned);
  EXPECT_EQ(error({"plan", "lenet5", "--device", "h200"}), planned);
  EXPECT_EQ(error({"compare", "lenet5"}), planned);
  EXPECT_EQ(error({"sweep", "lenet5", "--batches", "1:2"}), planned);
  EXPECT_EQ(error({"fit", "lenet5", "--memory", "1GiB"}), planned);
  EXPECT_EQ(error({"run", "lenet5"}),
            "error: --strategy pool-async: expected a GPU as --device, got cpu: the pool is "
            "CUDA's");
  EXPECT_EQ(error({"run", "lenet5", "--device", "cuda", "--events"}),
            "error: --events: expected a --strategy that says where buffers lie, got pool-async, "
            "which is opaque");
  EXPECT_TRUE(contains(error({"run", "lenet5", "--device", "cuda", "--trace", "t.jsonl"}),
                       "error: --trace: expected a --strategy"));
  EXPECT_TRUE(contains(error({"run", "lenet5", "--device", "cuda", "--arena", "fixed"}),
                       "error: --arena fixed: expected a --strategy"));
  EXPECT_TRUE(contains(error_of(arenagrad({"allocators", "lenet5", "--only", "pool-async"})),
                       "got pool-async, which is opaque"));
  EXPECT_TRUE(contains(arenagrad({"allocators", "lenet5", "--only", "bump"}).out,
                       "pool-async (cudaMallocAsync): opaque"));
}

TEST(Devices, WithoutAGpuCudaSaysWhy) {
  const auto json = arenagrad({"devices", "--json", "-"}).json();
  if (json["devices"].size() > 1) GTEST_SKIP() << "there is a GPU here";
  for (const char* verb : {"plan", "run"}) {
    const std::string error = error_of(arenagrad({verb, "lenet5", "--device", "cuda"}));
    EXPECT_EQ(error, "error: --device cuda: expected a GPU, got none: " +
                         json["no_gpu"].get<std::string>());
  }
}

}  // namespace
}  // namespace arenagrad::test
