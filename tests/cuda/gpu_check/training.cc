#include <fmt/format.h>

#include <algorithm>

#include "allocator/units.h"
#include "experiments/recorder.h"
#include "experiments/run.h"
#include "tests/cuda/gpu_check/checks.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {
namespace {

/// In f32 rounding alone may switch a relu: far above that, far below a mistake.
constexpr double kGradientLimit = 1e-2;

/// All memory in use on the GPU, ours or not, after each step.
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
    in_use_.push_back(device_.context(0, 0));
  }
  const std::vector<std::size_t>& in_use() const { return in_use_; }

 private:
  const Device& device_;
  Recorder& recorder_;
  std::vector<std::size_t> in_use_;
};

Settings training(const Batching& batching, GradientMode mode) {
  Settings settings;
  settings.plan.batching = batching;
  settings.plan.mode = mode;
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
  settings.steps = 4;
  return settings;
}

HostTensors exact_gradients(const Model& model, Settings settings) {
  Recorder recorder;
  settings.plan.dtype = DType::f64;
  settings.steps = 1;
  run_real(model, settings, {.observer = &recorder});
  return recorder.gradients();
}

struct OnGpu {
  Run run;
  std::vector<std::size_t> in_use;  // bytes by step
  double gradients_off = 0;
};

/// What of memory and layouts a run may choose.
struct Way {
  const char* name;
  ArenaKind arena;
  Layout layout;
  const char* strategy;
};

constexpr Way kWays[] = {{"growing", ArenaKind::growing, Layout::nchw, "best-fit"},
                         {"fixed", ArenaKind::fixed, Layout::nchw, "best-fit"},
                         {"growing, nhwc", ArenaKind::growing, Layout::nhwc, "best-fit"},
                         {"pool-async", ArenaKind::growing, Layout::nchw, "pool-async"}};

OnGpu train(const Model& model, Settings settings, const Way& way, const HostTensors& exact) {
  const GpuUnderTest gpu(way.layout);
  settings.profile = gpu.profile();
  settings.strategy = way.strategy;
  const auto device = gpu.open();
  Recorder recorder;
  MemoryWatch watch(*device, recorder);
  OnGpu result{
      run_real(model, settings, {.device = device.get(), .arena = way.arena, .observer = &watch}),
      watch.in_use()};
  result.gradients_off = difference(exact, recorder.gradients()).rel_l2;
  return result;
}

/// What is said of memory, and whether it holds. What a pool has taken is its own affair, but no
/// less than what was asked for.
std::pair<std::string, bool> memory_of(const OnGpu& found) {
  const Measurement& m = found.run.measurement;
  if (m.pool)
    return {fmt::format("pool {} for a peak of {}", with_commas(m.pool->used_high),
                        with_commas(m.bytes.peak_requested)),
            m.pool->used_high >= m.bytes.peak_requested};
  const bool holds = is_arena_and_context(found.in_use, m.bytes.reserved, m.bytes.context);
  return {fmt::format("{} = {} + context {} {}",
                      with_commas(found.in_use.empty() ? 0 : found.in_use.back()),
                      with_commas(m.bytes.reserved), with_commas(m.bytes.context),
                      holds ? "from step 2 on" : "does NOT hold"),
          holds};
}

}  // namespace

bool is_arena_and_context(const std::vector<std::size_t>& in_use_by_step, std::size_t reserved,
                          std::size_t context) {
  return in_use_by_step.size() > 2 &&
         std::all_of(in_use_by_step.begin() + 1, in_use_by_step.end(),
                     [&](std::size_t in_use) { return in_use == reserved + context; });
}

Verdict check_training(const char* model_name, const Batching& batching, GradientMode mode,
                       Json& details) {
  const Model model = load_model(model_name);
  const Settings settings = training(batching, mode);
  const HostTensors exact = exact_gradients(model, settings);
  details["model"] = model_name;
  details["batch"] = batching.batch;
  details["micro_batch"] = batching.micro_batch;
  details["mode"] = name(mode);
  bool passed = true;
  std::string summary;
  for (const Way& way : kWays) {
    const OnGpu found = train(model, settings, way, exact);
    const Measurement& m = found.run.measurement;
    const auto [memory, memory_holds] = memory_of(found);
    const bool books = m.planned_equals_observed == true && m.balanced;
    const bool close = found.gradients_off < kGradientLimit;
    passed = passed && books && memory_holds && close;
    details["arenas"].push_back({{"arena", way.name},
                                 {"planned_equals_observed", m.planned_equals_observed == true},
                                 {"balanced", m.balanced},
                                 {"in_use_by_step", found.in_use},
                                 {"reserved", m.pool ? m.pool->reserved_high : m.bytes.reserved},
                                 {"context", m.bytes.context},
                                 {"memory_holds", memory_holds},
                                 {"gradients_from_f64", found.gradients_off},
                                 {"losses", m.losses}});
    summary += fmt::format("{}{}: planned {} observed, {}, gradients {:.1e} from f64",
                           summary.empty() ? "" : "; ", way.name, books ? "==" : "!=", memory,
                           found.gradients_off);
  }
  details["summary"] = summary;
  return verdict(passed);
}

}  // namespace arenagrad::cuda_test
