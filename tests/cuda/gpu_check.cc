// gpu_check OUT_DIR: what can be said of a GPU only by running on it. One line per check, and
// OUT_DIR/gpu_check.json with everything. Exit status 1 when a check failed. On the emulated GPU
// the models are small; everything is the same otherwise.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiments/recorder.h"
#include "experiments/run.h"
#include "kernels/cuda/device.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {
namespace {

using Json = nlohmann::ordered_json;

struct Sizes {
  std::vector<const char*> planned;  // models whose every engine is rebuilt
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

class Report {
 public:
  explicit Report(std::string folder) : folder_(std::move(folder)) { json_["gpu"] = gpu_name(); }

  /// Runs one check: `body` fills details and says whether it passed. What it throws is a failure.
  template <class Body>
  void check(const std::string& name, const Body& body) {
    Json details;
    details["name"] = name;
    bool passed = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
      passed = body(details);
    } catch (const std::exception& error) {
      details["error"] = error.what();
    }
    details["passed"] = passed;
    details["took_seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    all_passed_ = all_passed_ && passed;
    std::printf("%s %s: %s: %s\n", passed ? "ok    " : "FAILED", gpu_name().c_str(), name.c_str(),
                details.dump().c_str());
    std::fflush(stdout);
    json_["checks"].push_back(details);
    write("gpu_check.json", json_.dump(2));
  }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream out(folder_ + "/" + file);
    out << text << '\n';
    if (!out) throw Error("cannot write " + folder_ + "/" + file);
  }
  bool all_passed() const { return all_passed_; }

 private:
  std::string folder_;
  Json json_;
  bool all_passed_ = true;
};

/// Plans without the GPU (from its description), then builds every engine on it.
bool check_engines(const char* model_name, std::int64_t batch, Json& details) {
  const Model model = load_model(model_name);
  const GpuUnderTest gpu;
  Settings settings;
  settings.plan.batching = {batch, batch};
  settings.plan.mode = GradientMode::full_batch;
  settings.profile = gpu.profile();
  const auto dry = run_dry(model, settings);
  details["engines"] = gpu.planner().table().size();
  details["planned_footprint"] = dry.measurement.bytes.footprint;
  gpu.open()->make_backend();  // throws when a workspace is another
  return true;
}

/// Free memory of the GPU after each step.
class MemoryWatch final : public Observer {
 public:
  MemoryWatch(const Device& device, Recorder& recorder) : device_(device), recorder_(recorder) {}
  void after_exec(const Exec& exec, std::int64_t step, RunAccess& access) override {
    recorder_.after_exec(exec, step, access);
  }
  void gradients_ready(std::int64_t step, const Section& section, RunAccess& access) override {
    recorder_.gradients_ready(step, section, access);
  }
  void after_step(std::int64_t step, double loss, RunAccess& access) override {
    recorder_.after_step(step, loss, access);
    free_.push_back(device_.free_memory());
  }
  const std::vector<std::size_t>& free_memory() const { return free_; }

 private:
  const Device& device_;
  Recorder& recorder_;
  std::vector<std::size_t> free_;
};

Settings training(const Sizes& s, GradientMode mode) {
  Settings settings;
  settings.plan.batching = s.batching;
  settings.plan.mode = mode;
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
  settings.steps = 4;
  return settings;
}

bool check_training(const Sizes& s, GradientMode mode, Json& details) {
  const Model model = load_model(s.trained);
  Settings settings = training(s, mode);
  Recorder exact, recorded;
  RunOptions options;
  options.observer = &exact;
  Settings on_cpu = settings;
  on_cpu.plan.dtype = DType::f64;
  on_cpu.steps = 1;
  run_real(model, on_cpu, options);

  const GpuUnderTest gpu;
  settings.profile = gpu.profile();
  const auto device = gpu.open();
  MemoryWatch watch(*device, recorded);
  options.device = device.get();
  options.observer = &watch;
  const auto run = run_real(model, settings, options);
  HostTensors gradients = exact.gradients();
  const auto& free = watch.free_memory();
  const double far = difference(gradients, recorded.gradients()).rel_l2;
  details["planned_equals_observed"] = run.measurement.planned_equals_observed == true;
  details["balanced"] = run.measurement.balanced;
  details["free_memory_by_step"] = free;
  details["reserved"] = run.measurement.bytes.reserved;
  details["context"] = run.measurement.bytes.context;
  details["gradients_from_f64"] = far;
  details["losses"] = run.measurement.losses;
  bool constant = true;  // from the end of the second step
  for (std::size_t i = 2; i < free.size(); ++i) constant = constant && free[i] == free[1];
  details["memory_constant"] = constant;
  // In f32 rounding alone may switch a relu: a hundredth is far above that, far below a mistake.
  return run.measurement.planned_equals_observed == true && run.measurement.balanced && constant &&
         far < 1e-2;
}

bool check_time(const char* model_name, std::int64_t batch, Json& details) {
  const Model model = load_model(model_name);
  const GpuUnderTest gpu;
  Settings settings;
  settings.plan.batching = {batch, batch};
  settings.plan.mode = GradientMode::full_batch;
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
  settings.steps = 12;
  settings.profile = gpu.profile();
  const auto device = gpu.open();
  RunOptions options;
  options.device = device.get();
  const auto run = run_real(model, settings, options);
  const auto& m = run.measurement;
  const Seconds seconds = m.seconds.value();
  details["model"] = model_name;
  details["batch"] = batch;
  details["seconds"] = {{"forward", seconds.forward},
                        {"backward", seconds.backward},
                        {"update", seconds.update},
                        {"step", seconds.step_median}};
  details["peak_requested"] = m.bytes.peak_requested;
  details["footprint"] = m.bytes.footprint;
  details["reserved"] = m.bytes.reserved;
  details["context"] = m.bytes.context;
  return m.planned_equals_observed == true && seconds.step_median > 0;
}

int run(const std::string& folder) {
  if (const auto why = why_no_gpu(); !why.empty()) {
    std::fprintf(stderr, "gpu_check: no GPU: %s\n", why.c_str());
    return 2;
  }
  Report report(folder);
  const Sizes s = sizes();
  report.check("device properties", [&](Json& details) {
    const cuda::Found found = cuda::find_gpus();
    const std::string properties = cuda::device_properties(0);
    report.write("device_properties.json", properties);
    details["driver"] = found.driver;
    details["runtime"] = found.runtime;
    details["cudnn"] = found.cudnn;
    details["properties"] = properties;
    return !properties.empty();
  });
  for (const char* model : s.planned)
    for (const std::int64_t batch : s.batches)
      report.check(std::string("engines of ") + model + " at batch " + std::to_string(batch),
                   [&](Json& details) { return check_engines(model, batch, details); });
  for (const GradientMode mode :
       {GradientMode::full_batch, GradientMode::accumulated_graph, GradientMode::per_step})
    report.check(std::string("training ") + s.trained + " " + std::string(name(mode)),
                 [&](Json& details) { return check_training(s, mode, details); });
  for (const char* model : s.timed)
    for (const std::int64_t batch : s.batches)
      report.check(std::string("time of ") + model + " at batch " + std::to_string(batch),
                   [&](Json& details) { return check_time(model, batch, details); });
  report.check("nothing illegal, nothing left", [](Json& details) {
    details["complaints"] = complaints();
    return complaints().empty();
  });
  return report.all_passed() ? 0 : 1;
}

}  // namespace
}  // namespace arenagrad::cuda_test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gpu_check OUT_DIR\n");
    return 2;
  }
  return arenagrad::cuda_test::run(argv[1]);
}
