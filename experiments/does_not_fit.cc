#include "experiments/does_not_fit.h"

#include <fmt/format.h>

#include <numeric>

#include "allocator/units.h"

namespace arenagrad {
namespace {

Alternative try_strategy(const Experiment& experiment, const StrategyInfo& strategy,
                         std::size_t capacity) {
  Alternative result{std::string(strategy.name), true, std::nullopt};
  try {
    result.footprint = dry_run(experiment, strategy, capacity).totals.footprint;
    return result;
  } catch (const OutOfMemory&) {
    result.fits = false;
  }
  try {
    result.footprint = dry_run(experiment, strategy, kUnlimited).totals.footprint;
  } catch (const OutOfMemory&) {
    // Not even without a limit: there is no figure to give.
  }
  return result;
}

std::string verdict(const OutOfMemoryReport& report) {
  if (report.aligned_bound > report.capacity)
    return fmt::format("No strategy can fit it: the run needs at least {} at once.",
                       exact_bytes(report.aligned_bound));
  return fmt::format("Without fragmentation it would have fitted: the run needs at least {}.",
                     exact_bytes(report.aligned_bound));
}

std::string others(const OutOfMemoryReport& report) {
  std::string fitting, missing;
  for (const auto& other : report.alternatives) {
    if (!other.footprint) continue;
    auto& list = other.fits ? fitting : missing;
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", other.strategy,
                        exact_bytes(*other.footprint));
  }
  if (!fitting.empty()) return " It fits with --strategy " + fitting + ".";
  return missing.empty() ? "" : " Other strategies would take " + missing + ".";
}

}  // namespace

DoesNotFit::DoesNotFit(OutOfMemoryReport explained)
    : Error(text(explained)), report(std::move(explained)) {}

OutOfMemoryReport explain(const Experiment& experiment, const OutOfMemory& error) {
  const auto& tape = experiment.model->tape;
  const auto& buffer = experiment.program.buffer(error.request.id);
  OutOfMemoryReport report;
  report.settings = experiment.settings;
  report.tensor = describe(experiment.program, tape, error.request.id);
  if (buffer.node != kNoNode) report.layer = tape.node(buffer.node).name;
  report.phase = name(buffer.phase);
  report.category = buffer.category;
  report.shape = buffer.shape;
  report.dtype = buffer.dtype;
  report.requested = error.request.bytes;
  report.granted = error.granted;
  report.live = error.live;
  report.live_total = std::accumulate(error.live.begin(), error.live.end(), std::size_t{0});
  report.footprint = error.usage.footprint;
  report.free = error.usage.free;
  report.largest_hole = error.largest_hole;
  report.capacity = error.capacity;
  report.lower_bound = lower_bound(experiment.lifetimes, false);
  report.aligned_bound = lower_bound(experiment.lifetimes, true);
  report.fits_without_fragmentation = report.aligned_bound <= report.capacity;
  const auto& tried = find_strategy(experiment.settings.strategy);
  for (const auto& strategy : strategies())
    if (strategy.name != tried.name)
      report.alternatives.push_back(try_strategy(experiment, strategy, report.capacity));
  return report;
}

std::string text(const OutOfMemoryReport& report) {
  return fmt::format(
      "out of memory in {}{}{}: {} ({}, {} {}) asks for {}; {} are live, the largest hole is {}, "
      "the footprint {} of a capacity of {}. {}{}",
      report.phase, report.layer.empty() ? "" : " of ", report.layer, report.tensor,
      name(report.category), report.shape.text(), name(report.dtype), exact_bytes(report.requested),
      exact_bytes(report.live_total), exact_bytes(report.largest_hole),
      exact_bytes(report.footprint), exact_bytes(report.capacity), verdict(report), others(report));
}

}  // namespace arenagrad
