#include "experiments/does_not_fit.h"

#include <fmt/format.h>

#include <numeric>

#include "allocator/units.h"

namespace arenagrad {
namespace {

std::optional<std::size_t> footprint_in(const Experiment& experiment, const StrategyInfo& strategy,
                                        std::size_t capacity) {
  try {
    return dry_run(experiment, strategy, capacity).totals.footprint;
  } catch (const OutOfMemory&) {
    return std::nullopt;  // not even without a limit, perhaps: then there is no figure to give
  }
}

Alternative try_strategy(const Experiment& experiment, const StrategyInfo& strategy,
                         std::size_t capacity) {
  Alternative result{std::string(strategy.name), false, std::nullopt};
  if (strategy.adaptive) {
    result.footprint = footprint_in(experiment, strategy, capacity);
    result.fits = result.footprint.has_value();
    if (result.fits) return result;
  }
  // The others fit where their footprint does: one walk says both, which matters where walking
  // means planning first.
  result.footprint = footprint_in(experiment, strategy, kUnlimited);
  if (!strategy.adaptive) result.fits = result.footprint && *result.footprint <= capacity;
  return result;
}

/// Left out: what never reuses memory, which helps nobody and walks every round; and where there is
/// so much to plan that an answer would take minutes, planners that search, then all planners, then
/// all but the two that place best in little time.
bool worth_trying(const Experiment& experiment, const StrategyInfo& strategy) {
  const std::size_t buffers = experiment.lifetimes.size();
  if (!strategy.reuses) return false;
  if (strategy.name == "best-fit" || strategy.name == "tlsf") return true;
  if (buffers > 50'000) return false;
  if (strategy.offline && buffers > 20'000) return false;
  return !strategy.searches || buffers <= 5'000;
}

std::string refused(const OutOfMemoryReport& report) {
  const std::string tensor = fmt::format("{} ({}, {} {})", report.tensor, name(report.category),
                                         report.shape.text(), name(report.dtype));
  if (report.whole_plan && !report.system_refused) {
    return fmt::format(
        "out of memory before {}: the plan is reserved as a whole and needs {} at once, of a "
        "capacity of {}.",
        tensor, exact_bytes(report.needed), exact_bytes(report.capacity));
  }
  std::string text = fmt::format("out of memory in {}{}{}: {} asks for {}", report.phase,
                                 report.layer.empty() ? "" : " of ", report.layer, tensor,
                                 exact_bytes(report.requested));
  if (report.opaque)
    return text +
           fmt::format("; {} are live{}", exact_bytes(report.live_total),
                       report.system_refused
                           ? ", and the device's pool refused to give more."
                           : fmt::format(" of a capacity of {}.", exact_bytes(report.capacity)));
  if (report.granted != report.requested)
    text += fmt::format(", which takes {}", exact_bytes(report.granted));
  text += fmt::format("; {} are live, {} lie in holes (the largest hole {})",
                      exact_bytes(report.live_total), exact_bytes(report.free),
                      exact_bytes(report.largest_hole));
  if (report.system_refused) return text + ", and the system refused to give more.";
  return text + fmt::format(", and a place for it takes {} of a capacity of {}.",
                            exact_bytes(report.needed), exact_bytes(report.capacity));
}

std::string verdict(const OutOfMemoryReport& report) {
  return fmt::format("{}: the run needs at least {} at once.",
                     report.fits_without_fragmentation
                         ? "Without fragmentation it would have fitted"
                         : "No strategy can fit it",
                     exact_bytes(report.aligned_bound));
}

/// The strategy to take: the lowest of those that fit, else the lowest of all.
std::string advice(const OutOfMemoryReport& report) {
  Alternative least{report.settings.strategy, false, report.footprint_without_limit};
  for (const Alternative& other : report.alternatives) {
    if (!other.footprint || other.fits < least.fits) continue;
    const bool lower = !least.footprint || *other.footprint < *least.footprint;
    if (lower || other.fits > least.fits) least = other;
  }
  if (!least.footprint) return "";
  if (least.fits)
    return fmt::format(" It fits with --strategy {}, in a footprint of {}.", least.strategy,
                       exact_bytes(*least.footprint));
  return fmt::format(" The least that any strategy takes is {} ({}).",
                     exact_bytes(*least.footprint), least.strategy);
}

}  // namespace

DoesNotFit::DoesNotFit(OutOfMemoryReport explained)
    : Error(text(explained)), report(std::move(explained)) {}

OutOfMemoryReport explain(const Experiment& experiment, const OutOfMemory& error) {
  const auto& tape = experiment.model->tape;
  const auto& buffer = experiment.program.buffer(error.request.id);
  const auto& tried = find_strategy(experiment.settings.strategy);
  OutOfMemoryReport report;
  report.settings = experiment.settings;
  report.device = experiment.profile.name;
  report.parameters = tape.parameter_count();
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
  report.reserved = error.usage.reserved;
  report.free = error.usage.free;
  report.largest_hole = error.largest_hole;
  report.capacity = error.capacity;
  report.internal_waste = report.footprint - report.free - report.live_total;
  report.external_waste = report.free;
  report.opaque = tried.opaque;
  report.whole_plan = tried.offline;
  report.needed = error.needed;
  report.system_refused = error.needed <= error.capacity;
  report.lower_bound = experiment.lower_bound;
  report.aligned_bound = experiment.aligned_bound;
  report.fits_without_fragmentation = report.aligned_bound <= report.capacity;
  if (report.whole_plan) {
    report.footprint_without_limit = error.needed;
    // What is live at the peak is the same under any strategy; this one is quick.
    const auto& quick = find_strategy("best-fit");
    report.top = largest(experiment, dry_run(experiment, quick, kUnlimited).live_at_peak);
  } else {
    if (!tried.opaque) report.footprint_without_limit = footprint_in(experiment, tried, kUnlimited);
    report.top = largest(experiment, error.live_buffers);
  }
  for (const auto& strategy : strategies())
    if (strategy.name != tried.name && worth_trying(experiment, strategy))
      report.alternatives.push_back(try_strategy(experiment, strategy, report.capacity));
  return report;
}

std::string text(const OutOfMemoryReport& report) {
  return refused(report) + " " + verdict(report) + advice(report);
}

}  // namespace arenagrad
