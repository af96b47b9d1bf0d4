// Planning for a GPU that isn't here. What needs cuDNN is skipped where that isn't either.
#include "experiments/chosen_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "experiments/engine_list.h"
#include "experiments/experiment.h"
#include "kernels/backend.h"
#include "kernels/cudnn/child_source.h"
#include "zoo/device_profile.h"

namespace arenagrad {
namespace {

/// A folder without libraries: a machine without cuDNN.
std::vector<std::string> nowhere() {
  const std::string folder = ::testing::TempDir() + "arenagrad_nowhere";
  std::filesystem::create_directories(folder);
  return {folder};
}

bool has_cudnn() {
  static const bool found = [] {
    try {
      cudnn::ChildSource source(
          [](std::size_t version) { return load_device("h200").properties.json(version); });
      return source.version() == 91900;
    } catch (const DeviceError& error) {
      std::printf("no cuDNN: %s\n", error.what());
      return false;
    }
  }();
  return found;
}

#define SKIP_WITHOUT_CUDNN() \
  if (!has_cudnn()) GTEST_SKIP() << "cuDNN 9.19 is not here"

Settings settings_for(const ChosenDevice& device, std::int64_t batch) {
  Settings settings;
  settings.plan.batching = {batch, batch};
  settings.profile = device.profile();
  return settings;
}

std::size_t largest_workspace(const Program& program) {
  std::size_t most = 0;
  for (const Buffer& buffer : program.buffers)
    if (buffer.holds == Holds::workspace) most = std::max(most, buffer.bytes);
  return most;
}

TEST(ChosenDevice, TheProcessorHasNoEngines) {
  const ChosenDevice cpu({});
  EXPECT_EQ(cpu.profile().name, "cpu");
  EXPECT_EQ(cpu.planner(), nullptr);
  EXPECT_TRUE(cpu.executes());
  EXPECT_EQ(cpu.open(), nullptr);
  EXPECT_EQ(cpu.missing_workspace(), "");
  EXPECT_THROW(cpu.answers(), Error);
}

TEST(ChosenDevice, NamesThatAreNone) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      ChosenDevice device({.device = name});
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message("cuda:x"), "--device: expected cuda:N with a GPU's number, got 'cuda:x'");
  EXPECT_EQ(message("cuda:"), "--device: expected cuda:N with a GPU's number, got 'cuda:'");
  EXPECT_NE(message("h20").find("did you mean 'h200'?"), std::string::npos);
}

TEST(ChosenDevice, WithoutCudnnThePlanSaysWhatIsMissing) {
  const Model model = load_model("lenet5");
  const ChosenDevice device({.device = "h200", .cudnn_folders = nowhere()});
  EXPECT_FALSE(device.executes());
  EXPECT_EQ(device.profile().capacity, 150109880320u);
  const DryRun dry = run_dry(model, settings_for(device, 4));
  EXPECT_FALSE(dry.measurement.workspace_included);
  EXPECT_TRUE(dry.measurement.balanced);
  EXPECT_EQ(dry.measurement.device, "h200");
  EXPECT_EQ(device.missing_workspace().rfind("workspace of 5 kinds of convolution is not included: "
                                             "nobody here knows it (cuDNN: expected "
                                             "libcublasLt.so.13, got none that opens",
                                             0),
            0u)
      << device.missing_workspace();
  EXPECT_THROW(device.answers(), Error);
}

TEST(ChosenDevice, TheLibrarysMemoryLivesThroughout) {
  const Model model = load_model("lenet5");
  const ChosenDevice device({.device = "h200", .cudnn_folders = nowhere()});
  auto settings = settings_for(device, 4);
  settings.steps = 3;
  const DryRun dry = run_dry(model, settings);
  const std::size_t library = std::size_t{32} << 20;
  EXPECT_EQ(dry.experiment.profile.library, library);
  const auto& at_peak = dry.measurement.bytes.by_category_at_peak;
  EXPECT_EQ(at_peak[static_cast<std::size_t>(Category::library)], library);
  Settings on_cpu = settings;
  on_cpu.profile = cpu_profile();
  EXPECT_EQ(dry.measurement.bytes.persistent,
            run_dry(model, on_cpu).measurement.bytes.persistent + library);
  const Program& program = dry.experiment.program;
  EXPECT_EQ(program.setup.code.front().index, static_cast<std::uint32_t>(program.library));
  EXPECT_EQ(describe(program, model.tape, program.library), "library workspace");
}

TEST(ChosenDevice, MoreSamplesMayNeedLessWorkspace) {
  SKIP_WITHOUT_CUDNN();
  const Model model = load_model("resnet50");
  const ChosenDevice device({.device = "h200"});
  EXPECT_EQ(largest_workspace(prepare(model, settings_for(device, 35)).program), 168'591'376u);
  EXPECT_EQ(largest_workspace(prepare(model, settings_for(device, 36)).program), 86'704'144u);
  EXPECT_EQ(device.missing_workspace(), "");
}

TEST(ChosenDevice, KeptAnswersGiveTheSamePlan) {
  SKIP_WITHOUT_CUDNN();
  const Model model = load_model("resnet18");
  const ChosenDevice here({.device = "h200"});
  const DryRun first = run_dry(model, settings_for(here, 8));
  EXPECT_TRUE(first.measurement.workspace_included);
  const std::string path = ::testing::TempDir() + "arenagrad_engines.json";
  std::ofstream(path) << to_text(here.answers());

  const ChosenDevice elsewhere(
      {.device = "h200", .engines_from = path, .cudnn_folders = nowhere()});
  const DryRun second = run_dry(model, settings_for(elsewhere, 8));
  EXPECT_TRUE(second.measurement.workspace_included);
  EXPECT_EQ(second.record, first.record);
  EXPECT_EQ(elsewhere.planner()->asked(), 0u);
  EXPECT_EQ(to_text(elsewhere.answers()), to_text(here.answers()));

  // A problem beyond them.
  const DryRun third = run_dry(model, settings_for(elsewhere, 9));
  EXPECT_FALSE(third.measurement.workspace_included);

  const auto refused = [&](DeviceChoice choice) -> std::string {
    choice.engines_from = path;
    try {
      ChosenDevice device(choice);
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_NE(refused({.device = "h100"}).find(": expected answers for h100 with the same"),
            std::string::npos);
  EXPECT_NE(refused({.device = "h200", .policy = {.allow_tf32 = true}})
                .find("expected answers under --workspace heuristic --allow-tf32, got some under "
                      "--workspace heuristic"),
            std::string::npos);
}

TEST(ChosenDevice, WorkspaceRulesAreObeyed) {
  SKIP_WITHOUT_CUDNN();
  using Workspace = cudnn::EnginePolicy::Workspace;
  const Model model = load_model("resnet50");
  const auto planned = [&](const cudnn::EnginePolicy& policy) {
    const ChosenDevice device({.device = "h200", .policy = policy});
    const Experiment experiment = prepare(model, settings_for(device, 35));
    std::size_t most = 0;
    for (const auto& engines : device.planner()->table())
      most = std::max({most, engines.overwrite.workspace,
                       engines.accumulate ? engines.accumulate->workspace : 0});
    return most;
  };
  EXPECT_EQ(planned({.workspace = Workspace::none}), 0u);
  EXPECT_LE(planned({.workspace = Workspace::limit, .limit = 10'000'000}), 10'000'000u);
  EXPECT_GE(planned({}), 168'591'376u);
}

/// The plan without asking, with `none`, for a device where nobody could answer anyway.
TEST(ChosenDevice, WithoutWorkspaceNobodyNeedsToBeAsked) {
  using Workspace = cudnn::EnginePolicy::Workspace;
  const ChosenDevice device(
      {.device = "h200", .policy = {.workspace = Workspace::none}, .cudnn_folders = nowhere()});
  const Model model = load_model("resnet50");
  Settings settings = settings_for(device, 8);
  settings.profile = device.unasked_profile();
  const DryRun dry = run_dry(model, settings);
  EXPECT_TRUE(dry.measurement.workspace_included);
  EXPECT_EQ(device.missing_workspace(), "");  // no question was put
  EXPECT_EQ(dry.measurement.device, "h200");
  std::size_t others = 0;
  for (const Buffer& buffer : dry.experiment.program.buffers) {
    if (buffer.holds != Holds::workspace) continue;
    EXPECT_NE(model.tape.node(buffer.node).layer->op(), "conv2d");
    ++others;  // batch norm's and the loss's are as ever
  }
  EXPECT_GT(others, 0u);

  const ChosenDevice heuristic({.device = "h200", .cudnn_folders = nowhere()});
  EXPECT_THROW(heuristic.unasked_profile(), ContractError);
  EXPECT_THROW(ChosenDevice({}).unasked_profile(), ContractError);
}

TEST(ChosenDevice, ThatPlanIsTheOneThatIsAskedFor) {
  SKIP_WITHOUT_CUDNN();
  using Workspace = cudnn::EnginePolicy::Workspace;
  for (const char* name : {"resnet50", "alexnet"}) {
    const Model model = load_model(name);
    const ChosenDevice device({.device = "h200", .policy = {.workspace = Workspace::none}});
    Settings settings = settings_for(device, 16);
    const DryRun asked = run_dry(model, settings);
    EXPECT_GT(device.planner()->asked(), 0u);
    settings.profile = device.unasked_profile();
    EXPECT_EQ(run_dry(model, settings).record, asked.record) << name;
  }
}

TEST(ChosenDevice, EveryProfileIsOneThatCudnnAnswersFor) {
  SKIP_WITHOUT_CUDNN();
  const Model model = load_model("resnet20_cifar");
  for (const std::string& name : device_names()) {
    const ChosenDevice device({.device = name});
    const Experiment experiment = prepare(model, settings_for(device, 8));
    EXPECT_EQ(device.missing_workspace(), "") << name;
    EXPECT_GT(device.planner()->asked(), 0u) << name;
  }
}

TEST(ChosenDevice, EnginesAreListedWithTheirLayers) {
  SKIP_WITHOUT_CUDNN();
  const Model model = load_model("resnet20_cifar");
  const ChosenDevice device({.device = "h200"});
  const Experiment experiment = prepare(model, settings_for(device, 8));
  const auto list = list_engines(experiment, *device.planner());
  std::size_t layers = 0;
  for (const auto& entry : list) {
    layers += entry.layers.size();
    EXPECT_EQ(std::ranges::count_if(entry.candidates, [](const auto& c) { return c.chosen; }), 1);
    for (const auto& candidate : entry.candidates) {
      if (candidate.chosen) {
        EXPECT_EQ(candidate.engine, entry.pinned.overwrite);
        EXPECT_TRUE(candidate.acceptable);
        break;
      }
      EXPECT_FALSE(candidate.acceptable);  // the chosen one is the first that is
    }
  }
  std::size_t convolutions = 0;
  for (const TapeNode& node : model.tape.nodes()) convolutions += node.layer->op() == "conv2d";
  EXPECT_EQ(layers, 3 * convolutions - 1);  // samples need no gradient
}

}  // namespace
}  // namespace arenagrad
