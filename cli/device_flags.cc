#include "cli/device_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags.h"
#include "cli/parse.h"
#include "cli/sink.h"

namespace arenagrad::cli {
namespace {

constexpr const char* kGroup = "Device";

void add(CLI::App& command, const char* flag, const char* value, const std::string& text,
         std::function<void(const std::string&)> store) {
  command.add_option_function<std::string>(flag, std::move(store), text)
      ->type_name(value)
      ->group(kGroup);
}

void parse_workspace(const std::string& text, cudnn::EnginePolicy& policy) {
  using Workspace = cudnn::EnginePolicy::Workspace;
  if (text == "heuristic") {
    policy.workspace = Workspace::heuristic;
  } else if (text == "none") {
    policy.workspace = Workspace::none;
  } else if (text.starts_with("limit:")) {
    policy.workspace = Workspace::limit;
    policy.limit = parse_size("--workspace limit", text.substr(6));
  } else {
    throw UsageError("--workspace: expected heuristic, none or limit:SIZE, got '" + text + "'");
  }
}

Layout parse_layout(const std::string& text) {
  if (text == "nchw") return Layout::nchw;
  if (text == "nhwc") return Layout::nhwc;
  throw UsageError("--layout: expected nchw or nhwc, got '" + text + "'");
}

ArenaKind parse_arena(const std::string& text) {
  if (text == "growing") return ArenaKind::growing;
  if (text == "fixed") return ArenaKind::fixed;
  throw UsageError("--arena: expected growing or fixed, got '" + text + "'");
}

/// The first flag given that only a GPU has a use for; empty for none.
const char* gpu_flag(const DeviceFlags& flags) {
  const DeviceChoice& choice = flags.choice;
  if (!(choice.policy == cudnn::EnginePolicy{}))
    return "--workspace, --allow-tf32 and --allow-nondeterministic";
  if (choice.layout != Layout::nchw) return "--layout nhwc";
  if (flags.arena != ArenaKind::growing) return "--arena fixed";
  if (!choice.engines_from.empty()) return "--engines-from";
  if (!choice.cudnn_folders.empty()) return "--cudnn";
  if (!flags.save_engines.empty()) return "--save-engines";
  return flags.list_engines ? "--engines" : "";
}

}  // namespace

const ChosenDevice& DeviceFlags::device(bool computes) const {
  if (*opened_) return **opened_;
  if (choice.device == "cpu" && *gpu_flag(*this) != '\0')
    throw UsageError(std::string(gpu_flag(*this)) + ": expected a GPU as --device, got cpu");
  auto device = std::make_unique<ChosenDevice>(choice);
  computes = computes || executes;
  if (computes && !device->executes())
    throw UsageError("--device: expected a device of this machine to compute on (cpu, cuda), got " +
                     choice.device +
                     ", a profile: it can be planned for (arenagrad plan), not run");
  *opened_ = std::move(device);
  return **opened_;
}

std::string DeviceFlags::backend() const {
  return opened() != nullptr && opened()->planner() != nullptr ? "cuda" : "cpu";
}

void add_device_flags(CLI::App& command, Flags& flags) {
  DeviceFlags& device = flags.device;
  DeviceChoice& choice = device.choice;
  const std::string verb = command.get_name();
  device.executes = verb == "run" || verb == "compare";
  add(command, "--device", "NAME",
      device.executes
          ? "cpu (default), cuda or cuda:N; see arenagrad devices"
          : "cpu (default), cuda, cuda:N, a profile's name or its JSON file: a GPU that "
            "isn't here can be planned for; see arenagrad devices",
      [&choice](const std::string& text) { choice.device = text; });
  add(command, "--workspace", "heuristic|none|limit:SIZE",
      "which of cuDNN's engines a convolution takes: its first choice (default), the first without "
      "workspace, or the first within a size",
      [&choice](const std::string& text) { parse_workspace(text, choice.policy); });
  command
      .add_flag("--allow-tf32", choice.policy.allow_tf32,
                "engines that round f32 inputs for tensor cores as well")
      ->group(kGroup);
  command
      .add_flag("--allow-nondeterministic", choice.policy.allow_nondeterministic,
                "engines whose bits differ from run to run as well")
      ->group(kGroup);
  add(command, "--layout", "nchw|nhwc",
      "how a GPU's images and filters lie: channels outside the pixels (default) or inside",
      [&choice](const std::string& text) { choice.layout = parse_layout(text); });
  if (verb == "plan")
    command
        .add_flag("--engines", device.list_engines,
                  "list cuDNN's engines for each convolution and pass")
        ->group(kGroup);
  if (device.executes)
    add(command, "--arena", "growing|fixed",
        "how a GPU's memory is taken: by granules as needed (default), or all that the plan "
        "reserves at once",
        [&device](const std::string& text) { device.arena = parse_arena(text); });
  add(command, "--save-engines", "FILE", "keep cuDNN's answers for machines without it",
      [&flags](const std::string& text) {
        flags.device.save_engines = flags.outputs.add("--save-engines", text);
      });
  add(command, "--engines-from", "FILE", "take cuDNN's answers from a file; ask only beyond them",
      [&choice](const std::string& text) { choice.engines_from = text; });
  add(command, "--cudnn", "FOLDER",
      "look for libcudnn.so.9 and libcublasLt.so.13 there alone, in its lib, lib64 and */lib too: "
      "a "
      "toolkit's folder, or pip's site-packages/nvidia",
      [&choice](const std::string& text) { choice.cudnn_folders = {text}; });
}

void finish_device(const DeviceFlags& flags, const OutputFlags& output, const Console& console) {
  const ChosenDevice* device = flags.opened();
  if (device == nullptr) return;
  if (const std::string missing = device->missing_workspace(); !missing.empty())
    note(missing, output, console);
  if (!flags.save_engines.empty()) write_file(flags.save_engines, to_text(device->answers()));
}

}  // namespace arenagrad::cli
