#include "cli/frontier_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator/units.h"
#include "cli/sweep_tables.h"

namespace arenagrad::cli {
namespace {

constexpr const char* kTimeTitle = "multiply-adds, times those without recomputation";

/// "1.31 times the multiply-adds".
std::string time_text(const StepCost& cost) {
  return fmt::format("{:.2f} times the multiply-adds", cost.times());
}

std::string yes(bool value) { return value ? "yes" : ""; }

/// Only what is on the frontier is named: the others lie close together, and the table has them.
template <class Choice>
std::string label_of(const Choice& one) {
  return one.optimal ? text(one.recompute) : "";
}

bool planned(const FrontierPoint& one) { return one.point.error.empty(); }

/// The peak of the same mode without recomputation; 0 where that could not be planned.
std::size_t peak_without(const Sweep& sweep, GradientMode mode) {
  for (const auto& one : sweep.frontier)
    if (one.point.mode == mode && one.recompute.kind == Recompute::Kind::none)
      return one.point.peak.requested;
  return 0;
}

std::string where_of(const SweepPoint& point, bool over_inputs) {
  return over_inputs ? point.input.text() : fmt::format("batch {}", point.batch);
}

/// The first of a mode that is on the frontier, which takes the least time, and the last, which
/// takes the least memory.
struct Ends {
  const FrontierPoint *first = nullptr, *last = nullptr;
};
Ends ends_of(const Sweep& sweep, GradientMode mode) {
  Ends ends;
  for (const auto& one : sweep.frontier) {
    if (!one.optimal || one.point.mode != mode) continue;
    if (ends.first == nullptr) ends.first = &one;
    ends.last = &one;
  }
  return ends;
}

/// "1.50 GiB (1,610,612,736 B) for 1.31 times the multiply-adds (sqrt)".
std::string price_text(const FrontierPoint& one) {
  return fmt::format("{} for {} ({})", exact_bytes(one.point.peak.requested),
                     time_text(one.point.cost), text(one.recompute));
}

/// The sentence about the mode of `at`, one of its points. Empty where none was planned.
std::string mode_text(const Sweep& sweep, const SweepPoint& at, bool over_inputs,
                      std::size_t capacity) {
  std::ptrdiff_t ways = 0, plans = 0, fitting = 0;
  for (const auto& one : sweep.frontier) {
    if (one.point.mode != at.mode) continue;
    ++ways;
    plans += planned(one);
    fitting += planned(one) && one.point.fits;
  }
  if (plans == 0) return "";
  const auto subject = fmt::format("{}, {}: ", name(at.mode), where_of(at, over_inputs));
  if (fitting == 0)
    return subject +
           fmt::format("none of {} ways to recompute fits in {}.", ways, exact_bytes(capacity));
  const auto [first, last] = ends_of(sweep, at.mode);
  if (fitting == 1 && capacity != kUnlimited)
    return subject + fmt::format("of {} ways to recompute one fits in {}, with a peak of {}.", ways,
                                 exact_bytes(capacity), price_text(*first));
  const auto all = capacity == kUnlimited
                       ? fmt::format("{} ways to recompute", ways)
                       : fmt::format("the {} of {} ways to recompute that fit in {}", fitting, ways,
                                     exact_bytes(capacity));
  const auto least = exact_bytes(first->point.peak.requested);
  if (first != last)
    return subject + fmt::format("of {}, from {} ({}) down to {}.", all, least,
                                 text(first->recompute), price_text(*last));
  const bool plain = first->recompute.kind == Recompute::Kind::none;
  return subject + fmt::format("none of {} takes less than {}{}.", all, least,
                               plain ? "" : fmt::format(" ({})", text(first->recompute)));
}

}  // namespace

Table frontier_table(const Sweep& sweep) {
  Table table{"memory against time: ways to recompute",
              {{"mode", "mode"},
               {"recompute", "recompute"},
               {"peak", "peak_requested", true},
               {"of none's", "share", true},
               {"multiply-adds", "multiply_adds", true},
               {"times none's", "times", true},
               {"kernel calls", "kernel_calls", true}},
              {},
              {}};
  if (!sweep.frontier.empty()) {
    const auto& point = sweep.frontier.front().point;
    table.title += fmt::format(", batch {}", point.batch);
  }
  const bool real = std::ranges::any_of(
      sweep.frontier, [](const FrontierPoint& one) { return one.point.real.has_value(); });
  if (real) table.columns.push_back({"step", "step_seconds", true});
  table.columns.push_back({"frontier", "optimal"});
  for (const auto& one : sweep.frontier) {
    const auto& point = one.point;
    std::vector<Cell> row{std::string(name(point.mode)), text(one.recompute)};
    if (planned(one)) {
      const auto whole = peak_without(sweep, point.mode);
      row.insert(row.end(), {Bytes{point.peak.requested},
                             whole == 0 ? Cell{}
                                        : Cell{Share{static_cast<double>(point.peak.requested) /
                                                     static_cast<double>(whole)}},
                             Count{point.cost.multiply_adds}, Real{point.cost.times()},
                             Count{point.cost.kernel_calls}});
    } else {
      row.resize(7);
    }
    if (real) row.push_back(point.real ? Cell{Duration{point.real->step_seconds}} : Cell{});
    row.push_back(!planned(one) ? point.error : !point.fits ? "does not fit" : yes(one.optimal));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table empty_frontier_of_fit() {
  return {"memory against time: the largest batch with each way to recompute",
          {{"recompute", "recompute"},
           {"largest batch", "largest_batch", true},
           {"footprint", "footprint", true},
           {"multiply-adds", "multiply_adds", true},
           {"times none's", "times", true},
           {"kernel calls", "kernel_calls", true},
           {"frontier", "optimal"}},
          {},
          {}};
}

Table frontier_table(const Fit& fit) {
  Table table = empty_frontier_of_fit();
  for (const auto& way : fit.frontier) {
    std::vector<Cell> row{text(way.recompute)};
    if (way.found.largest > 0)
      row.insert(row.end(),
                 {Count{way.found.largest}, Bytes{way.footprint}, Count{way.cost.multiply_adds},
                  Real{way.cost.times()}, Count{way.cost.kernel_calls},
                  way.stopped() ? Cell{std::string("stopped")} : yes(way.optimal)});
    else
      row.insert(row.end(), {way.error.empty() ? "none" : way.error, {}, {}, {}, {}, {}});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json to_json(const FrontierPoint& one) {
  auto json = to_json(one.point);
  json["recompute"] = text(one.recompute);
  json["times"] = planned(one) ? Json(one.point.cost.times()) : Json(nullptr);
  json["optimal"] = one.optimal;
  return json;
}

Json to_json(const FitOnFrontier& way) {
  const bool fits = way.found.largest > 0;
  const auto if_fits = [&](auto value) { return fits ? Json(value) : Json(nullptr); };
  return {{"recompute", text(way.recompute)},
          {"error", way.error.empty() ? Json(nullptr) : Json(way.error)},
          {"largest_batch", way.found.largest},
          {"stopped_by_max", way.found.stopped_by_most && way.found.largest == way.found.bound},
          {"all_examined", way.error.empty() && !way.found.unexamined},
          {"footprint", if_fits(way.footprint)},
          {"multiply_adds", if_fits(way.cost.multiply_adds)},
          {"kernel_calls", if_fits(way.cost.kernel_calls)},
          {"times", if_fits(way.cost.times())},
          {"optimal", way.optimal}};
}

std::string frontier_text(const Sweep& sweep, std::size_t capacity) {
  std::string result;
  std::vector<GradientMode> seen;
  const bool over_inputs = !sweep.frontier.empty() && sweep.decompositions.empty();
  for (const auto& one : sweep.frontier) {
    const auto mode = one.point.mode;
    if (std::find(seen.begin(), seen.end(), mode) != seen.end()) continue;
    seen.push_back(mode);
    const auto found = mode_text(sweep, one.point, over_inputs, capacity);
    if (!found.empty()) result += (result.empty() ? "" : "\n") + found;
  }
  return result;
}

std::string frontier_text(const Fit& fit, std::optional<std::int64_t> effective) {
  const FitOnFrontier *last = nullptr, *reaches = nullptr;
  for (const auto& way : fit.frontier) {
    if (!way.optimal) continue;
    if (effective && reaches == nullptr && way.found.largest >= *effective) reaches = &way;
    last = &way;
  }
  const auto stopped = std::ranges::count_if(fit.frontier, &FitOnFrontier::stopped);
  const auto unknown =
      stopped == 0 ? ""
                   : fmt::format(" {} of {} ways to recompute fit at least what was looked at.",
                                 stopped, fit.frontier.size());
  if (last == nullptr || stopped > 0) return unknown;
  if (last->cost.recomputed == 0) return " No way to recompute fits more.";
  auto result = fmt::format(" Recomputation reaches {} for {} ({})", last->found.largest,
                            time_text(last->cost), text(last->recompute));
  if (reaches != nullptr && reaches != last)
    result += fmt::format(", and {} for {} ({})", *effective, time_text(reaches->cost),
                          text(reaches->recompute));
  return result + ".";
}

std::optional<Plot> frontier_plot(const Sweep& sweep, const SweepOptions& options,
                                  const std::string& model) {
  Plot plot{.kind = Plot::Kind::points, .x_title = kTimeTitle};
  plot.bytes_title = "bytes live at the peak";
  for (const auto mode : options.modes) {
    PlotPath path{std::string(name(mode)), plot_colour(plot.paths.size()), {}};
    for (const auto& one : sweep.frontier)
      if (one.point.mode == mode && planned(one))
        path.points.push_back({one.point.cost.times(),
                               static_cast<std::int64_t>(one.point.peak.requested), label_of(one),
                               one.optimal});
    if (!path.points.empty()) plot.paths.push_back(std::move(path));
  }
  if (plot.paths.empty()) return std::nullopt;
  const auto& point = sweep.frontier.front().point;
  plot.title = fmt::format(
      "{}, {}: memory against time by recomputation, {} policy", model,
      options.inputs.empty() ? fmt::format("batch {}", point.batch) : where_of(point, true),
      name(options.settings.plan.policy));
  if (options.settings.profile.name != "cpu") plot.title += ", " + options.settings.profile.name;
  if (const auto capacity = options.settings.capacity)
    plot.marks.push_back({"capacity, " + human_bytes(*capacity), *capacity});
  return plot;
}

std::optional<Plot> frontier_plot(const Fit& fit, const std::string& model) {
  Plot plot{.kind = Plot::Kind::points, .x_title = kTimeTitle};
  plot.bytes_title = "largest batch (samples)";
  plot.counts = true;
  plot.title = fmt::format("{} in {}: the largest batch against time by recomputation, {}", model,
                           human_bytes(fit.capacity), name(fit.settings.plan.mode));
  PlotPath path{"frontier", plot_colour(std::size_t{0}), {}};
  for (const auto& way : fit.frontier)
    if (way.found.largest > 0)
      path.points.push_back({way.cost.times(), way.found.largest, label_of(way), way.optimal});
  if (path.points.empty()) return std::nullopt;
  plot.paths.push_back(std::move(path));
  return plot;
}

}  // namespace arenagrad::cli
