#include "experiments/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "allocator/units.h"
#include "experiments/does_not_fit.h"
#include "experiments/host_memory.h"
#include "experiments/recorder.h"
#include "experiments/run.h"

namespace arenagrad {
namespace {

/// A run with what was taken out of it.
struct Recorded {
  Measurement measurement;
  Recorder recorder;
  std::vector<NodeId> coupled;
};

class Comparer {
 public:
  Comparer(const Model& model, const Settings& settings, const CompareOptions& options)
      : model_(model), settings_(settings), options_(options) {}

  Comparison run() {
    result_.settings = settings_;
    for (const auto mode : options_.modes) run_mode(mode);
    name_coupled_layers();
    for (std::size_t i = 0; i < options_.modes.size(); ++i)
      for (std::size_t j = i + 1; j < options_.modes.size(); ++j)
        compare_pair(options_.modes[i], options_.modes[j]);
    if (plan_reference()) compare_with_reference();
    return std::move(result_);
  }

 private:
  Recorded record(const Settings& settings, const std::string& what) {
    const auto experiment = prepare(model_, settings);
    Recorded recorded;
    RunOptions run{.device = options_.device,
                   .arena = options_.arena,
                   .feed = options_.feed,
                   .host_held = options_.host_bytes + held_,
                   .host_grows = recorded_bytes(experiment.program, model_.tape),
                   .observer = &recorded.recorder,
                   .interrupted = options_.interrupted,
                   .progress = {}};
    if (options_.progress) {
      options_.progress(what, 0);
      run.progress = [&](std::int64_t step, double) { options_.progress(what, step); };
    }
    auto done = run_real(model_, settings, run);
    recorded.measurement = std::move(done.measurement);
    recorded.measurement.bytes.host = options_.host_bytes + recorded.recorder.bytes();
    recorded.coupled = done.experiment.program.coupled;
    held_ += recorded.recorder.bytes();
    return recorded;
  }

  void run_mode(GradientMode mode) {
    ModeResult outcome{.mode = mode};
    try {
      const auto& done =
          runs_.emplace(mode, record(in_mode(settings_, mode), std::string(name(mode))))
              .first->second;
      outcome.measurement = done.measurement;
    } catch (const DoesNotFit& error) {
      outcome.out_of_memory = error.report;
      outcome.error = error.what();
    } catch (const NotEnoughMemory& error) {
      outcome.error = error.what();
    } catch (const ModeRefused& error) {
      outcome.refused = true;
      outcome.error = error.what();
    }
    result_.modes.push_back(std::move(outcome));
  }

  void name_coupled_layers() {
    for (const auto& [mode, run] : runs_)
      for (const auto node : run.coupled) {
        const auto& layer = model_.tape.node(node).name;
        if (std::find(result_.coupled_layers.begin(), result_.coupled_layers.end(), layer) ==
            result_.coupled_layers.end())
          result_.coupled_layers.push_back(layer);
      }
  }

  /// Layers that couple samples see the whole batch in one mode and micro-batches in another.
  bool same_computation(GradientMode a, GradientMode b) const {
    const auto whole = [](GradientMode mode) { return mode == GradientMode::full_batch; };
    return result_.coupled_layers.empty() || settings_.plan.batching.count() == 1 ||
           whole(a) == whole(b);
  }

  void compare_pair(GradientMode a, GradientMode b) {
    const auto one = runs_.find(a), other = runs_.find(b);
    if (one == runs_.end() || other == runs_.end()) return;
    const auto& x = one->second;
    const auto& y = other->second;
    PairResult pair;
    pair.a = a;
    pair.b = b;
    pair.gradient = difference(x.recorder.gradients(), y.recorder.gradients());
    pair.states = difference(x.recorder.states(), y.recorder.states());
    pair.losses = curve_difference(x.measurement.losses, y.measurement.losses);
    pair.flips = x.recorder.branches().flips(y.recorder.branches());
    pair.same_computation = same_computation(a, b);
    Evidence evidence{pair.gradient.rel_l2, pair.gradient.finite, pair.flips, pair.same_computation,
                      std::nullopt};
    const auto dtype = settings_.plan.dtype;
    if (wants_f64(evidence, dtype)) {
      // Undecided where there is none, which is not equal.
      pair.no_rerun = why_not([&] {
        pair.rel_l2_f64 = evidence.rel_l2_f64 =
            difference(in_f64(a).recorder.gradients(), in_f64(b).recorder.gradients()).rel_l2;
      });
    }
    pair.verdict = judge(evidence, dtype);
    result_.pairs.push_back(std::move(pair));
  }

  /// Why an f64 run can't be made, which does not end the comparison; empty when `make` made it.
  template <class Make>
  static std::string why_not(const Make& make) {
    try {
      make();
      return "";
    } catch (const NotEnoughMemory& error) {
      return error.what();
    } catch (const DoesNotFit& error) {
      return fmt::format("in f64: {}", error.what());
    } catch (const DeviceError& error) {
      return fmt::format("in f64: {}", error.what());
    }
  }

  /// The f64 run of a mode: a program and an arena of its own, free of the capacity.
  const Recorded& in_f64(GradientMode mode) {
    const auto found = wide_.find(mode);
    if (found != wide_.end()) return found->second;
    auto settings = in_mode(settings_, mode);
    settings.plan.dtype = DType::f64;
    settings.capacity.reset();
    settings.steps = reference_steps();
    const auto& done =
        wide_.emplace(mode, record(settings, fmt::format("{} in f64", name(mode)))).first->second;
    result_.reference_bytes = std::max(result_.reference_bytes, done.measurement.bytes.reserved);
    return done;
  }

  /// The loss curve is worth comparing when all steps are cheap; gradients need the first alone.
  std::int64_t reference_steps() const {
    const auto batch = settings_.plan.batching.batch;
    return estimated_cost(model_.tape, batch, settings_.steps) <= kSmallCost ? settings_.steps : 1;
  }

  bool plan_reference() {
    const auto cost = estimated_cost(model_.tape, settings_.plan.batching.batch, 1);
    if (runs_.empty())
      result_.no_reference = "no mode ran";
    else if (options_.reference == Reference::none)
      result_.no_reference = "not asked for (--reference none)";
    else if (settings_.plan.dtype == DType::f64)
      result_.no_reference = "the run is in f64 itself";
    else if (options_.reference == Reference::automatic && cost > kSmallCost)
      result_.no_reference = fmt::format(
          "a step takes {} multiply-adds, more than the {} up to which it is made "
          "unasked (--reference f64 asks for it)",
          with_commas(cost), with_commas(kSmallCost));
    return result_.no_reference.empty();
  }

  void compare_with_reference() {
    result_.no_reference = why_not([&] {
      for (const auto& [mode, run] : runs_) {
        // Where modes are different computations, each has a truth of its own.
        const auto truth =
            same_computation(mode, runs_.begin()->first) ? runs_.begin()->first : mode;
        const auto& wide = in_f64(truth);
        ReferenceResult entry;
        entry.mode = mode;
        entry.reference_mode = truth;
        entry.gradient = difference(run.recorder.gradients(), wide.recorder.gradients());
        entry.losses = curve_difference(run.measurement.losses, wide.measurement.losses);
        entry.flips = run.recorder.branches().flips(wide.recorder.branches());
        result_.against_f64.push_back(std::move(entry));
      }
    });
    if (!result_.no_reference.empty()) return result_.against_f64.clear();
    const auto modes = nearest(result_.against_f64);
    if (modes.size() == 1 && result_.against_f64.size() > 1) result_.closest = modes.front();
  }

  const Model& model_;
  const Settings& settings_;
  const CompareOptions& options_;
  std::map<GradientMode, Recorded> runs_, wide_;
  std::size_t held_ = 0;  // bytes of recorders so far
  Comparison result_;
};

}  // namespace

bool Comparison::failed() const {
  const auto bad_pair = [](const PairResult& pair) { return pair.verdict == Verdict::different; };
  const auto bad_books = [](const ModeResult& mode) {
    return mode.measurement && (!mode.measurement->balanced ||
                                !mode.measurement->planned_equals_observed.value_or(true));
  };
  return std::any_of(pairs.begin(), pairs.end(), bad_pair) ||
         std::any_of(modes.begin(), modes.end(), bad_books);
}

bool Comparison::everything_fitted() const {
  return std::all_of(modes.begin(), modes.end(),
                     [](const ModeResult& mode) { return mode.measurement || mode.refused; });
}

std::vector<GradientMode> nearest(const std::vector<ReferenceResult>& against_f64) {
  std::vector<GradientMode> modes;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& entry : against_f64) {
    if (!entry.gradient.finite || entry.gradient.rel_l2 > least) continue;
    if (entry.gradient.rel_l2 < least) modes.clear();
    least = entry.gradient.rel_l2;
    modes.push_back(entry.mode);
  }
  return modes;
}

std::vector<GradientMode> modes_to_compare(const Model& model) {
  using enum GradientMode;
  std::vector<GradientMode> modes{full_batch, accumulated_graph, per_step};
  if (model.tape.node(model.loss).layer->couples_samples()) modes.push_back(two_pass);
  return modes;
}

Comparison compare(const Model& model, const Settings& settings, const CompareOptions& options) {
  if (settings.plan.run == RunMode::no_grad)
    throw Error("compare: expected a run with gradients, got no-grad");
  CompareOptions chosen = options;
  if (chosen.modes.empty()) chosen.modes = modes_to_compare(model);
  if (chosen.modes.size() < 2) throw Error("compare: expected at least two modes, got one");
  return Comparer(model, settings, chosen).run();
}

std::int64_t estimated_cost(const Tape& tape, std::int64_t batch, std::int64_t steps) {
  double cost = 0;
  for (const auto& node : tape.nodes()) cost += static_cast<double>(node.multiply_adds);
  cost *= 3.0 * static_cast<double>(batch) * static_cast<double>(steps);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return cost < static_cast<double>(kMost) ? static_cast<std::int64_t>(cost) : kMost;
}

CurveDifference curve_difference(const std::vector<double>& a, const std::vector<double>& b) {
  CurveDifference result;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double size = std::max(std::abs(a[i]), std::abs(b[i]));
    const double relative = size > 0 ? std::abs(a[i] - b[i]) / size : 0;
    if (relative > result.max_relative || std::isnan(relative)) {
      result.max_relative = relative;
      result.step = static_cast<std::int64_t>(i) + 1;
    }
  }
  return result;
}

}  // namespace arenagrad
