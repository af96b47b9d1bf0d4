#include "experiments/fit_help.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/no_workspace.h"
#include "experiments/peak_line.h"
#include "experiments/sweep.h"

namespace arenagrad {
namespace {

std::optional<std::size_t> fitting_footprint(const Experiment& experiment) {
  const auto capacity = experiment.capacity();
  if (experiment.aligned_bound > capacity) return std::nullopt;
  try {
    return dry_run(experiment, find_strategy(experiment.settings.strategy), capacity)
        .totals.footprint;
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

/// Nodes of recorded forwards that a route is planned for, in a fraction of a second; longer graphs
/// are only counted.
constexpr std::int64_t kMostPlanned = 50'000;

/// Plans and runs dry; fills in the route.
void look_at(const Model& model, const Settings& settings, Route& route) {
  const auto& plan = settings.plan;
  route.passes = forwards(plan);
  try {
    const auto experiment = prepare(model, settings);
    route.cost = step_cost(experiment.program.step, experiment.program, model.tape);
    route.lower_bound = experiment.lower_bound;
    route.footprint = fitting_footprint(experiment);
    route.fits = route.footprint.has_value();
  } catch (const ContractError&) {
    throw;
  } catch (const Error& error) {
    route.refused = error.what();
  }
}

Route route_of(const Model& model, Settings settings, GradientMode mode, std::int64_t batch,
               std::int64_t micro_batch) {
  Route route{.mode = mode, .batch = batch, .micro_batch = std::min(batch, micro_batch)};
  settings = at_batch(in_mode(settings, mode), batch, micro_batch);
  const auto nodes = static_cast<std::int64_t>(model.tape.nodes().size());
  if (mode == GradientMode::accumulated_graph && forwards(settings.plan) > kMostPlanned / nodes) {
    route.passes = forwards(settings.plan);
    route.refused = fmt::format("not looked at: {} recorded forwards", route.passes);
    return route;
  }
  look_at(model, settings, route);
  return route;
}

/// From `from` down to above `to`: the first that fits; where dozens don't, in steps of 2 %. `to`:
/// none was found.
template <class Fits>
std::int64_t walk_down(std::int64_t from, std::int64_t to, const Fits& fits,
                       const std::function<bool()>& out_of_time) {
  constexpr std::int64_t kOneByOne = 64;
  std::int64_t n = from;
  while (n > to && !fits(n)) {
    if (out_of_time()) return to;
    n -= from - n < kOneByOne ? 1 : std::max<std::int64_t>(1, n / 50);
  }
  return std::max(n, to);
}

/// A micro-batch that fits and is among the largest, at most the batch; 0: none.
std::int64_t large_micro_batch(const Model& model, const Settings& settings, std::int64_t batch,
                               const std::function<bool()>& out_of_time) {
  const auto per_step = in_mode(settings, GradientMode::per_step);
  const auto fits = [&](std::int64_t n) {
    return footprint_of(model, at_batch(per_step, batch, n)).footprint.has_value();
  };
  const auto bound = [&](std::int64_t most, const std::function<bool(std::int64_t)>& may_fit) {
    return find_largest(most, 0, {may_fit, [](auto) { return true; }}).bound;
  };
  // The first micro-batch alone bounds the whole: it is a full batch of that size. Where a whole
  // one follows, so do the first two.
  const auto whole = in_mode(settings, GradientMode::full_batch);
  const auto half = batch / 2;
  const auto one_may = [&](std::int64_t n) { return bound_fits(model, at_batch(whole, n, n)); };
  if (one_may(half + 1)) {
    const auto found = walk_down(bound(batch, one_may), half, fits, out_of_time);
    if (found > half) return found;
  }
  if (half == 0) return 0;
  const auto two_may = [&](std::int64_t n) {
    return bound_fits(model, at_batch(per_step, 2 * n, n));
  };
  return walk_down(bound(half, two_may), 0, fits, out_of_time);
}

Remedy tried(std::string what, const Model& model, Settings settings) {
  Remedy remedy{std::move(what), false, std::nullopt};
  remedy.fits = footprint_of(model, settings).footprint.has_value();
  settings.capacity = kUnlimited;
  remedy.footprint = footprint_of(model, settings).footprint;
  return remedy;
}

void add_smaller_inputs(const Model& model, const FitOptions& options, const Settings& settings,
                        std::vector<Remedy>& result) {
  if (!options.sized || model.samples.size() != 1) return;
  const auto& shape = model.tape.tensor(model.samples.front()).shape;
  if (shape.rank() != 3 || shape[1] != shape[2]) return;
  for (auto size = shape[1] / 2; size >= 1; size /= 2) {
    try {
      auto remedy = tried(fmt::format("--input {}x{}x{}", shape[0], size, size),
                          options.sized(size), settings);
      if (!remedy.footprint) return;  // too small for the network
      result.push_back(std::move(remedy));
    } catch (const ContractError&) {
      throw;
    } catch (const Error&) {
      return;
    }
    if (result.back().fits) return;
  }
}

}  // namespace

Program plan_without_engines(const Model& model, const Settings& settings) {
  const NoWorkspace kernels(*settings.profile.kernels);
  Profile profile = settings.profile;
  profile.kernels = &kernels;
  return plan(model.tape, profile, settings.plan);
}

bool bound_fits(const Model& model, const Settings& settings) {
  try {
    // Scratch is left out of this bound.
    const auto program = plan_without_engines(model, settings);
    return rising_bound(program, settings.steps) <= *settings.capacity;
  } catch (const ShapeError&) {
    return false;  // beyond 64 bits, or what the device's kernels take
  } catch (const ContractError&) {
    throw;
  } catch (const Error&) {
    return true;
  }
}

Attempt footprint_of(const Model& model, const Settings& settings) {
  try {
    const auto experiment = prepare(model, settings);
    return {fitting_footprint(experiment), ""};
  } catch (const ContractError&) {
    throw;
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

std::vector<Route> routes(const Model& model, const FitOptions& options, const Settings& settings,
                          std::int64_t batch, const std::function<bool()>& out_of_time) {
  const auto micro = options.micro_batch.value_or(1);
  const auto largest = large_micro_batch(model, settings, batch, out_of_time);
  return {
      route_of(model, settings, GradientMode::full_batch, batch, batch),
      route_of(model, settings, GradientMode::accumulated_graph, batch, micro),
      route_of(model, settings, GradientMode::per_step, batch, std::max<std::int64_t>(1, largest))};
}

std::vector<Remedy> remedies(const Model& model, const FitOptions& options,
                             const Settings& settings, const OutOfMemoryReport& report) {
  std::vector<Remedy> result;
  const auto variant = [&](std::string what, const auto& change) {
    auto changed = settings;
    change(changed);
    result.push_back(tried(std::move(what), model, changed));
  };
  const auto& plan = settings.plan;
  if (plan.optimizer.states_per_parameter() > 0)
    variant("--optimizer sgd without momentum: no optimizer state",
            [](Settings& s) { s.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd}; });
  if (plan.policy == SavedPolicy::pytorch)
    variant("--policy lean", [](Settings& s) { s.plan.policy = SavedPolicy::lean; });
  if (plan.dtype == DType::f64)
    variant("--dtype f32", [](Settings& s) { s.plan.dtype = DType::f32; });
  if (plan.batching.micro_batch > 1)
    variant("--mode per-step --micro-batch 1", [](Settings& s) {
      s.plan.mode = GradientMode::per_step;
      s.plan.batching.micro_batch = 1;
    });
  if (plan.run != RunMode::no_grad && plan.recompute.kind == Recompute::Kind::none)
    variant("--recompute sqrt",
            [](Settings& s) { s.plan.recompute.kind = Recompute::Kind::square_root; });
  for (const auto& other : report.alternatives)
    if (other.fits) result.push_back({"--strategy " + other.strategy, true, other.footprint});
  add_smaller_inputs(model, options, settings, result);
  return result;
}

}  // namespace arenagrad
