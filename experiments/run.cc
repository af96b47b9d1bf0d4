#include "experiments/run.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "experiments/does_not_fit.h"
#include "experiments/host_memory.h"
#include "kernels/cpu/backend.h"

namespace arenagrad {
namespace {

/// Hands every call on to the caller's observer, keeps the time that takes apart, and tells the
/// caller how far the run is.
class Watcher final : public Observer {
 public:
  explicit Watcher(const RunOptions& options) : options_(options) {}

  void after_setup(RunAccess& access) override {
    spent_ = {};  // calibration belongs to no step
    if (options_.observer) options_.observer->after_setup(access);
  }
  void after_exec(const Exec& exec, std::int64_t step, RunAccess& access) override {
    if (!options_.observer) return;
    // A backward's or an update's exec is timed in its own phase.
    auto& part = exec.pass == Pass::backward || exec.pass == Pass::add_gradient ||
                         exec.pass == Pass::sum_gradients
                     ? spent_.backward
                 : exec.pass == Pass::update ? spent_.update
                                             : spent_.forward;
    timed(part, [&] { options_.observer->after_exec(exec, step, access); });
  }
  void gradients_ready(std::int64_t step, const Section& section, RunAccess& access) override {
    if (!options_.observer) return;
    timed(spent_.total, [&] { options_.observer->gradients_ready(step, section, access); });
  }
  void after_step(std::int64_t step, double loss, RunAccess& access) override {
    by_step_.push_back(spent_);
    spent_ = {};
    if (options_.observer) options_.observer->after_step(step, loss, access);
    if (options_.progress) options_.progress(step + 1, loss);
  }

  /// The step times without the time that observing took.
  std::vector<StepTimes> net(std::vector<StepTimes> times) const {
    for (std::size_t i = 0; i < std::min(times.size(), by_step_.size()); ++i) {
      const auto& spent = by_step_[i];
      times[i].forward -= spent.forward;
      times[i].backward -= spent.backward;
      times[i].update -= spent.update;
      times[i].total -= spent.total + spent.forward + spent.backward + spent.update;
    }
    return times;
  }

 private:
  template <class Call>
  static void timed(double& part, const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    part += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  const RunOptions& options_;
  StepTimes spent_;  // in this step; total: outside the phases
  std::vector<StepTimes> by_step_;
};

/// At least one. Results and bytes don't depend on it.
int threads(const Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Growth of resident memory that neither the arena nor the caller's arrays explain. Read once the
/// arena has gone back, so that only what libraries keep for themselves is left.
std::size_t context_bytes(std::size_t before, std::size_t host_growth) {
  const auto now = resident_memory();
  const auto explained = before + host_growth;
  return now > explained ? now - explained : 0;
}

}  // namespace

Seconds medians(const std::vector<StepTimes>& times) {
  const std::size_t first = times.size() > 1 ? 1 : 0;
  const auto median = [&](double StepTimes::*part) {
    std::vector<double> values;
    for (std::size_t i = first; i < times.size(); ++i) values.push_back(times[i].*part);
    if (values.empty()) return 0.0;
    std::sort(values.begin(), values.end());
    const auto half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
  };
  return {median(&StepTimes::forward), median(&StepTimes::backward), median(&StepTimes::update),
          median(&StepTimes::total)};
}

Run run_real(const Model& model, const Settings& settings, const RunOptions& options) {
  auto dry = run_dry(model, settings, options.log);
  check_machine_memory(dry.measurement.bytes.reserved, options.host_grows, available_memory());

  Run run{std::move(dry.experiment), std::move(dry.measurement), std::move(dry.record), {}};
  const auto before = resident_memory();
  NoiseFeed noise(settings.seed);
  Watcher watcher(options);
  RunResult result;
  {
    CpuBackend backend(threads(settings));
    HostDriver driver(run.experiment.capacity(), run.experiment.profile.granule);
    try {
      run.observed = walk(run.experiment, find_strategy(settings.strategy), driver,
                          {.steps = settings.steps,
                           .seed = settings.seed,
                           .backend = &backend,
                           .feed = options.feed ? options.feed : &noise,
                           .observer = &watcher,
                           .interrupted = options.interrupted},
                          result, options.log);
    } catch (const OutOfMemory& error) {
      throw DoesNotFit(explain(run.experiment, error));
    }
    run.measurement = measure(run.experiment, run.observed);
    run.measurement.backend = backend.name();
  }
  run.measurement.planned_equals_observed = run.planned == run.observed;
  run.measurement.bytes.host = options.host_held + options.host_grows;
  run.measurement.bytes.context = context_bytes(before, options.host_grows);
  run.measurement.losses = std::move(result.losses);
  run.measurement.seconds = medians(watcher.net(std::move(result.times)));
  return run;
}

}  // namespace arenagrad
