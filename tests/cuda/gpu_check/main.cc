// gpu_check OUT_DIR: what can be said of a GPU only by running on it. One line per check, and
// OUT_DIR/gpu_check.json with everything. On the emulated GPU the models are small; everything is
// the same otherwise.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_check/checks.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {
namespace {

constexpr const char* kUsage =
    "usage: gpu_check OUT_DIR [--pytorch FILE] [--ran FILE]\n"
    "       gpu_check --why-no-gpu\n"
    "  --pytorch FILE  results of script/gpu_check_torch.py, to set beside ours\n"
    "  --ran FILE      checks that ran before, a JSON object in each line, for the same report\n"
    "  --why-no-gpu    says in a line why nothing can be checked here, if so\n"
    "Exit status: 0 everything passed (a GPU is here), 1 a check failed, 2 no GPU or bad input.\n";

struct Sizes {
  std::vector<const char*> planned;  // models whose every engine is asked for
  const char* trained;
  Batching batching;
  std::vector<const char*> timed;
  std::vector<std::int64_t> batches;  // of planned and timed
};

Sizes sizes() {
  if (gpu_name() == "emulated")
    return {{"resnet20_cifar", "lenet5_digits"}, "lenet5_digits", {10, 4}, {"lenet5_digits"}, {4}};
  return {{"resnet18", "resnet50", "alexnet"},
          "resnet18",
          {10, 4},
          {"resnet18", "resnet50", "alexnet"},
          {32, 128}};
}

/// The profile that is this GPU's; for the emulated GPU, which has none in the zoo, one is made up.
std::optional<DeviceProfile> find_profile() {
  if (gpu_name() == "emulated") {
    DeviceProfile profile = load_device("h200");
    profile.name = gpu_name();
    profile.properties.name = cuda::find_gpus().gpus.at(0).name;
    return profile;
  }
  for (DeviceProfile& profile : device_profiles())
    if (profile.properties.name == gpu_name()) return std::move(profile);
  return std::nullopt;
}

/// Null for no path. Throws Error, also for text that is no JSON.
Json read_json(const std::string& path) {
  if (path.empty()) return nullptr;
  std::ifstream in(path);
  if (!in) throw Error("cannot read " + path);
  const Json json = Json::parse(in, nullptr, false);
  if (json.is_discarded()) throw Error(path + ": expected JSON, got something else");
  return json;
}

/// Null for no path.
Json read_lines(const std::string& path) {
  if (path.empty()) return nullptr;
  std::ifstream in(path);
  if (!in) throw Error("cannot read " + path);
  Json list = Json::array();
  for (std::string line; std::getline(in, line);) list.push_back(Json::parse(line));
  return list;
}

Json head(const Json& pytorch, const Json& ran) {
  const cuda::Found found = cuda::find_gpus();
  const cuda::Gpu& gpu = found.gpus.at(0);
  return {{"schema", "arenagrad.gpu-check/1"},
          {"gpu", gpu_name()},
          {"memory", gpu.memory},
          {"compute_capability", {gpu.compute_major, gpu.compute_minor}},
          {"multiprocessors", gpu.multiprocessors},
          {"versions",
           {{"driver", found.driver},
            {"runtime", found.runtime},
            {"cudnn", found.cudnn},
            {"cublas", found.cublas}}},
          {"ran", ran},
          {"pytorch", pytorch}};
}

void check_all_engines(Report& report, const Sizes& s, const std::optional<DeviceProfile>& profile,
                       const std::string& properties) {
  std::vector<PlannedFrom> from;
  if (profile)
    from.push_back(
        {"profile " + profile->name, profile->properties.json(cuda::find_gpus().cudnn), false});
  from.push_back({"the GPU's own properties", properties, true});
  DeviceAnswers device{cudnn::EnginePolicy{}};
  for (const char* model : s.planned)
    for (const std::int64_t batch : s.batches)
      for (const Layout layout : kLayouts)
        for (const PlannedFrom& source : from)
          report.check("engines of " + std::string(model) + ", batch " + std::to_string(batch) +
                           ", " + std::string(cudnn::name(layout)) + ", from " + source.name,
                       [&](Json& details) {
                         return check_engines(model, batch, layout, source, device, details);
                       });
  if (!profile)
    report.check("engines from a profile", [](Json& details) {
      details["summary"] = "no profile has a GPU of this name";
      return Verdict::left_out;
    });
}

int run(const std::string& folder, const Json& pytorch, const Json& ran) {
  const Sizes s = sizes();
  const auto profile = find_profile();
  Report report(folder, head(pytorch, ran));
  std::string properties;
  report.check("device properties", [&](Json& details) {
    const Verdict verdict = check_properties(profile ? &*profile : nullptr, properties, details);
    report.write("device_properties.json", properties);
    return verdict;
  });
  check_all_engines(report, s, profile, properties);
  for (const GradientMode mode :
       {GradientMode::full_batch, GradientMode::accumulated_graph, GradientMode::per_step})
    report.check(
        "training " + std::string(s.trained) + ", " + std::string(name(mode)),
        [&](Json& details) { return check_training(s.trained, s.batching, mode, details); });
  for (const char* model : s.timed)
    for (const std::int64_t batch : s.batches)
      for (const Layout layout : kLayouts)
        report.check(
            "time of " + std::string(model) + ", batch " + std::to_string(batch) + ", " +
                std::string(cudnn::name(layout)),
            [&](Json& details) { return check_time(model, batch, layout, pytorch, details); });
  report.check("nothing illegal, nothing left", [](Json& details) {
    const auto found = complaints();
    details["complaints"] = found;
    details["summary"] = std::to_string(found.size()) + " complaints";
    return verdict(found.empty());
  });
  return report.any_failed() ? 1 : 0;
}

int main_of(const std::vector<std::string>& arguments) {
  std::string folder, pytorch, ran;
  bool wants_why = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--why-no-gpu") {
      wants_why = true;
    } else if (argument == "--pytorch" && has_value) {
      pytorch = arguments[++i];
    } else if (argument == "--ran" && has_value) {
      ran = arguments[++i];
    } else if (folder.empty() && !argument.starts_with("-")) {
      folder = argument;
    } else {
      throw Error("unexpected '" + argument + "'\n" + kUsage);
    }
  }
  if (folder.empty() != wants_why) throw Error(std::string("expected a folder\n") + kUsage);
  if (const auto why = why_no_gpu(); !why.empty()) {
    std::printf("no GPU: %s\n", why.c_str());
    return 2;
  }
  return wants_why ? 0 : run(folder, read_json(pytorch), read_lines(ran));
}

}  // namespace
}  // namespace arenagrad::cuda_test

int main(int argc, char** argv) {
  try {
    return arenagrad::cuda_test::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_check: %s\n", error.what());
    return 2;
  }
}
