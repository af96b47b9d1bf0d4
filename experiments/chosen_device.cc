#include "experiments/chosen_device.h"

#include <fmt/format.h>

#include <charconv>

#include "allocator/fnv1a.h"
#include "kernels/backend.h"
#include "kernels/cuda/device.h"
#include "kernels/cudnn/child_source.h"
#include "zoo/device_profile.h"

namespace arenagrad {
namespace {

/// The number in "cuda" or "cuda:1"; none for other names.
std::optional<int> gpu_number(std::string_view name) {
  if (name == "cuda") return 0;
  if (!name.starts_with("cuda:")) return std::nullopt;
  name.remove_prefix(5);
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0)
    throw Error("--device: expected cuda:N with a GPU's number, got 'cuda:" + std::string(name) +
                "'");
  return number;
}

cuda::Gpu find_gpu(int number) {
  const cuda::Found found = cuda::find_gpus();
  if (found.gpus.empty())
    throw DeviceError("--device cuda: expected a GPU, got none: " + found.why_none);
  for (const cuda::Gpu& gpu : found.gpus)
    if (gpu.index == number) return gpu;
  throw DeviceError(fmt::format("--device cuda:{}: expected a GPU's number below {}, got {}",
                                number, found.gpus.size(), number));
}

std::string hash_of_text(const std::string& text) {
  Fnv1a hash;
  hash.add(text);
  return hash.text();
}

std::string text(const cudnn::EnginePolicy& policy) {
  using Workspace = cudnn::EnginePolicy::Workspace;
  std::string workspace = policy.workspace == Workspace::heuristic ? "heuristic"
                          : policy.workspace == Workspace::none
                              ? "none"
                              : fmt::format("limit:{}", policy.limit);
  return fmt::format("--workspace {}{}{}", workspace, policy.allow_tf32 ? " --allow-tf32" : "",
                     policy.allow_nondeterministic ? " --allow-nondeterministic" : "");
}

}  // namespace

std::string cudnn_version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

ChosenDevice::ChosenDevice(const DeviceChoice& choice) {
  if (choice.device == "cpu") {
    profile_ = cpu_profile();
    return;
  }
  gpu_ = gpu_number(choice.device);
  allow_tf32_ = choice.policy.allow_tf32;
  if (gpu_) {
    const cuda::Gpu gpu = find_gpu(*gpu_);
    const std::string properties = cuda::device_properties(gpu.index);
    // In this process: a process forked from one that uses a GPU may not use it.
    plan_for(choice, gpu.compute_major, [properties, folders = choice.cudnn_folders] {
      return std::make_unique<cudnn::DirectSource>(cudnn::load_cudnn(folders), properties);
    });
    profile_.name = fmt::format("cuda:{}", gpu.index);
    profile_.capacity = gpu.memory;
    properties_ = hash_of_text(properties);
  } else {
    const DeviceProfile device = load_device(choice.device);
    plan_for(choice, device.properties.compute_major,
             [properties = device.properties, folders = choice.cudnn_folders] {
               return std::make_unique<cudnn::ChildSource>(
                   [&](std::size_t version) { return properties.json(version); }, folders);
             });
    profile_.name = device.name;
    profile_.capacity = static_cast<std::size_t>(device.properties.memory);
    properties_ = hash_of(device.properties);
  }
  if (!choice.engines_from.empty()) read_answers(choice);
}

void ChosenDevice::plan_for(const DeviceChoice& choice, int compute_major, cudnn::OpenSource open) {
  profile_ = cudnn::cuda_profile(compute_major);
  profile_.layout = choice.layout;
  // What is kept must be of one version: a cuDNN of another is as good as none.
  auto of_one_version = [this, open = std::move(open)] {
    auto source = open();
    if (known_version_ != 0 && source->version() != known_version_)
      throw DeviceError(fmt::format("the answers at hand are of cuDNN {}, the one here is {}",
                                    cudnn_version_text(known_version_),
                                    cudnn_version_text(source->version())));
    return source;
  };
  planner_ = std::make_unique<cudnn::EnginePlanner>(
      cudnn::EnginePlanner::Options{choice.policy, choice.layout, profile_.alignment},
      std::move(of_one_version));
  profile_.kernels = planner_.get();
  unasked_ = std::make_unique<NoWorkspace>(*planner_);
}

Profile ChosenDevice::unasked_profile() const {
  check_contract(planner_ != nullptr &&
                     planner_->options().policy.workspace == cudnn::EnginePolicy::Workspace::none,
                 "engines may have workspace, and were not to be asked about");
  Profile profile = profile_;
  profile.kernels = unasked_.get();
  return profile;
}

void ChosenDevice::read_answers(const DeviceChoice& choice) {
  const EnginesFile file = load_engines(choice.engines_from);
  if (file.properties != properties_)
    throw Error(
        fmt::format("{}: expected answers for {} with the same properties ({}), got some "
                    "for {} ({})",
                    choice.engines_from, profile_.name, properties_, file.device, file.properties));
  if (file.policy != choice.policy)
    throw Error(fmt::format("{}: expected answers under {}, got some under {}", choice.engines_from,
                            text(choice.policy), text(file.policy)));
  planner_->know(file.answers);
  known_version_ = file.cudnn;
}

std::unique_ptr<Device> ChosenDevice::open() const {
  if (planner_ == nullptr) return nullptr;
  check_contract(gpu_.has_value(), "a profile was opened to compute on");
  return cuda::open_gpu({.index = *gpu_, .allow_tf32 = allow_tf32_}, *planner_);
}

std::string ChosenDevice::missing_workspace() const {
  return planner_ == nullptr ? "" : planner_->missing_workspace();
}

EnginesFile ChosenDevice::answers() const {
  if (planner_ == nullptr)
    throw Error("expected a device with cuDNN's answers to keep, got " + profile_.name);
  const std::size_t version = planner_->version() != 0 ? planner_->version() : known_version_;
  if (version == 0)
    throw Error("expected answers of cuDNN to keep, got none: " + planner_->why_unknown());
  return {version, profile_.name, properties_, planner_->options().policy, planner_->answers()};
}

}  // namespace arenagrad
