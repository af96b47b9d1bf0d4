#include <fmt/format.h>

#include "cli/to_json.h"
#include "cli/verbs.h"
#include "experiments/chosen_device.h"
#include "kernels/cuda/device.h"
#include "zoo/device_profile.h"

namespace arenagrad::cli {
namespace {

std::string capability(int major, int minor) { return fmt::format("{}.{}", major, minor); }

/// CUDA writes 13.0 as 13000.
std::string cuda_version(int version) {
  return version == 0 ? "none" : fmt::format("{}.{}", version / 1000, version / 10 % 100);
}

Table table_of_devices(std::string title) {
  return {std::move(title),
          {{"name", "name"},
           {"what", "description"},
           {"memory", "memory", true},
           {"capability", "compute_capability", true},
           {"multiprocessors", "multiprocessors", true}},
          {},
          {}};
}

Table here_table(const cuda::Found& found) {
  auto table = table_of_devices("here: programs can be run on these");
  table.rows.push_back({std::string("cpu"), std::string("this machine's processor"), {}, {}, {}});
  for (const auto& gpu : found.gpus)
    table.rows.push_back({fmt::format("cuda:{}", gpu.index), gpu.name, Bytes{gpu.memory},
                          capability(gpu.compute_major, gpu.compute_minor),
                          Count{gpu.multiprocessors}});
  return table;
}

Table profiles_table(const std::vector<DeviceProfile>& profiles) {
  auto table = table_of_devices("profiles: programs can be planned for these");
  for (const auto& profile : profiles) {
    const auto& p = profile.properties;
    table.rows.push_back({profile.name, profile.description,
                          Bytes{static_cast<std::size_t>(p.memory)},
                          capability(p.compute_major, p.compute_minor), Count{p.multiprocessors}});
  }
  return table;
}

Json here_json(const cuda::Found& found) {
  Json list = Json::array();
  list.push_back({{"name", "cpu"}});
  for (const auto& gpu : found.gpus)
    list.push_back({{"name", fmt::format("cuda:{}", gpu.index)},
                    {"description", gpu.name},
                    {"memory", gpu.memory},
                    {"compute_capability", {gpu.compute_major, gpu.compute_minor}},
                    {"multiprocessors", gpu.multiprocessors}});
  return list;
}

Json profiles_json(const std::vector<DeviceProfile>& profiles) {
  Json list = Json::array();
  for (const auto& profile : profiles) {
    const auto& p = profile.properties;
    list.push_back({{"name", profile.name},
                    {"description", profile.description},
                    {"path", profile.path},
                    {"memory", p.memory},
                    {"compute_capability", {p.compute_major, p.compute_minor}},
                    {"multiprocessors", p.multiprocessors}});
  }
  return list;
}

}  // namespace

ExitCode devices(const Flags& flags, const Console& console) {
  const auto found = cuda::find_gpus();
  const auto profiles = device_profiles();
  Document document;
  auto& json = document.json = json_header("devices", flags);
  json["devices"] = here_json(found);
  json["no_gpu"] = found.gpus.empty() ? Json(found.why_none) : Json(nullptr);
  json["cuda"] = {{"driver", found.driver},
                  {"runtime", found.runtime},
                  {"cudnn", found.cudnn},
                  {"cublas", found.cublas}};
  json["profiles"] = profiles_json(profiles);
  document.tables = {here_table(found), profiles_table(profiles)};
  if (found.gpus.empty()) {
    document.answer =
        fmt::format("No GPU: {}. {} can be planned for.", found.why_none, profiles.size());
  } else {
    document.answer = fmt::format(
        "{} GPU{} (CUDA driver {}, runtime {}, cuDNN {}); {} more can be planned for.",
        found.gpus.size(), found.gpus.size() == 1 ? "" : "s", cuda_version(found.driver),
        cuda_version(found.runtime), cudnn_version_text(found.cudnn), profiles.size());
  }
  json["answer"] = document.answer;
  emit(document, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
