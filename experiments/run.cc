#include "experiments/run.h"

#include <algorithm>
#include <chrono>

#include "experiments/cpu_device.h"
#include "experiments/does_not_fit.h"
#include "experiments/host_memory.h"

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
    const Phase phase = phase_of(exec);
    auto& part = phase == Phase::backward ? spent_.backward
                 : phase == Phase::update ? spent_.update
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

/// Throws NotEnoughMemory unless both the device and the machine have what the run will take.
void check_memory(const Device& device, std::size_t arena, std::size_t host) {
  if (device.is_host()) return check_machine_memory(arena, host, device.free_memory());
  check_machine_memory(arena, 0, device.free_memory());
  check_machine_memory(0, host, available_memory());
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
  auto dry = expect_run(model, settings, options.log, options.interrupted);
  const auto& strategy = find_strategy(settings.strategy);
  const std::unique_ptr<Device> own =
      options.device == nullptr ? cpu_device(settings.threads) : nullptr;
  Device& device = own ? *own : *options.device;
  const std::size_t planned = dry.record.totals.peak_reserved;
  check_memory(device, planned, options.host_grows);

  Run run{std::move(dry.experiment), std::move(dry.measurement), std::move(dry.record), {}};
  NoiseFeed noise(settings.seed);
  Watcher watcher(options);
  RunResult result;
  {
    const std::unique_ptr<Backend> backend = device.make_backend();
    std::unique_ptr<Driver> driver =
        device.make_driver({.kind = strategy.opaque ? ArenaKind::pool : options.arena,
                            .capacity = run.experiment.capacity(),
                            .granule = granule(run.experiment, strategy),
                            .planned = planned});
    try {
      run.observed = walk(run.experiment, strategy, *driver,
                          {.steps = settings.steps,
                           .seed = settings.seed,
                           .backend = backend.get(),
                           .feed = options.feed ? options.feed : &noise,
                           .observer = &watcher,
                           .interrupted = options.interrupted},
                          result, options.log);
    } catch (const OutOfMemory& error) {
      throw DoesNotFit(explain(run.experiment, error));
    }
    run.measurement = measure(run.experiment, run.observed);
    run.measurement.backend = backend->name();
    run.measurement.pool = driver->pool_counters();
    // Read once the arena has gone back, so that only what libraries keep for themselves is left.
    driver.reset();
    run.measurement.bytes.context = device.context(0, options.host_grows);
  }
  run.measurement.planned_equals_observed = run.planned == run.observed;
  run.measurement.bytes.host = options.host_held + options.host_grows;
  run.measurement.losses = std::move(result.losses);
  run.measurement.seconds = medians(watcher.net(std::move(result.times)));
  return run;
}

}  // namespace arenagrad
