#include "experiments/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "allocator/planned.h"
#include "allocator/planner.h"
#include "allocator/smallest_capacity.h"
#include "allocator/units.h"
#include "graph/execute.h"

namespace arenagrad {
namespace {

class Lab {
 public:
  Lab(const RequestTrace& trace, const LabOptions& options) : trace_(trace), options_(options) {}

  LabRow row(const StrategyInfo& strategy) {
    strategy_ = &strategy;
    LabRow row{.strategy = std::string(strategy.name), .offline = strategy.offline};
    try {
      const MakeStrategy make = strategy.offline ? solve(row) : strategy.make;
      measure(make, row);
      search(make, row);
      row.times = time_calls(trace_, make);
    } catch (const OutOfMemory& error) {
      row.error = error.what();
    }
    return row;
  }

 private:
  void say(const std::string& doing) const {
    if (options_.interrupted != nullptr && options_.interrupted->load()) throw Interrupted();
    if (options_.progress) options_.progress(std::string(strategy_->name), doing);
  }

  /// Plans once; every replay after that uses the same offsets.
  MakeStrategy solve(LabRow& row) const {
    say("planning");
    const PlannerInfo& planner = find_planner(strategy_->name);
    Budget budget = planner.default_budget();
    if (options_.seconds) budget.seconds = options_.seconds;
    const auto begin = std::chrono::steady_clock::now();
    const Watch watch{
        .progress =
            [&](std::uint64_t steps, std::size_t height) {
              say(fmt::format("planning: {} steps, {}", with_commas(steps), human_bytes(height)));
            },
        .interrupt = options_.interrupted};
    Solution solution = planner.solve(trace_.lifetimes, budget, watch);
    say("planned");
    row.plan_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    row.proven = solution.optimal;
    row.bound = solution.bound;
    row.truncated = solution.truncated;
    return [plan = std::move(solution.plan)](const StrategyContext& context) {
      return make_planned(context, plan);
    };
  }

  void measure(const MakeStrategy& make, LabRow& row) const {
    say("replaying");
    const Replay r = replay(trace_, make, kUnlimited);
    row.peak_requested = r.peak_requested;
    row.peak_active = r.active;
    row.footprint = r.totals.footprint;
    row.reserved = r.totals.peak_reserved;
    row.internal_waste = r.internal_waste;
    row.external_waste = r.external_waste;
    if (r.free > 0) {
      row.hole_ratio = 1 - static_cast<double>(r.largest_hole) / static_cast<double>(r.free);
    }
    row.driver_calls = r.totals.driver_calls;
    row.driver_bytes = r.driver_bytes;
    if (trace_.first_step_end > 0) row.first_step_footprint = r.first_step_footprint;
  }

  /// Strategies that ignore the capacity need their footprint; the others are tried.
  void search(const MakeStrategy& make, LabRow& row) const {
    if (strategy_->adaptive) {
      const auto begin = std::chrono::steady_clock::now();
      bool out_of_time = false;
      row.smallest_device =
          smallest_capacity(row.reserved, trace_.granule, [&](std::size_t capacity) {
            say("searching the smallest device");
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
            if (options_.seconds && taken.count() > *options_.seconds && capacity < row.reserved) {
              out_of_time = true;
              return false;
            }
            return fits(trace_, make, capacity);
          });
      row.truncated = row.truncated || out_of_time;
    } else {
      row.smallest_device = row.footprint;
    }
    if (options_.capacity) {
      row.fits_capacity =
          *options_.capacity >= row.reserved || fits(trace_, make, *options_.capacity);
    }
  }

  const RequestTrace& trace_;
  const LabOptions& options_;
  const StrategyInfo* strategy_ = nullptr;
};

double over(std::size_t bytes, std::size_t bound) {
  return bound == 0 ? 0 : 100.0 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1);
}

/// The row with the smallest device among those that qualify; null for none.
template <class Qualifies>
const LabRow* best(const LabReport& report, Qualifies qualifies) {
  const LabRow* found = nullptr;
  for (const LabRow& row : report.rows) {
    if (!row.smallest_device || !qualifies(row)) continue;
    if (found == nullptr || *row.smallest_device < *found->smallest_device) found = &row;
  }
  return found;
}

}  // namespace

LabReport run_lab(RequestTrace trace, const LabOptions& options) {
  LabReport report{.trace = std::move(trace)};
  report.lower_bound = report.trace.lower_bound();
  report.aligned_bound = report.trace.aligned_bound();
  std::vector<const StrategyInfo*> chosen;
  if (options.only.empty()) {
    for (const StrategyInfo& strategy : strategies()) chosen.push_back(&strategy);
  } else {
    for (const std::string& name : options.only) chosen.push_back(&find_placing_strategy(name));
  }
  Lab lab(report.trace, options);
  for (const StrategyInfo* strategy : chosen) report.rows.push_back(lab.row(*strategy));
  return report;
}

std::string recommendation(const LabReport& report) {
  const LabRow* online = best(report, [](const LabRow& row) { return !row.offline; });
  const LabRow* offline = best(report, [](const LabRow& row) { return row.offline; });
  if (online == nullptr && offline == nullptr) return "No strategy could run this trace.";
  const auto phrase = [&](const LabRow& row) {
    return fmt::format("{} ({}, {:.2f} % over the aligned bound{})", row.strategy,
                       exact_bytes(*row.smallest_device),
                       over(*row.smallest_device, report.aligned_bound),
                       row.proven ? ", proven least" : "");
  };
  std::string text =
      fmt::format("{}: ", report.trace.name.empty() ? "this trace" : report.trace.name);
  if (online == nullptr)
    return text + "the smallest device is reached by " + phrase(*offline) + ".";
  text += "online, " + phrase(*online) + " needs the smallest device";
  if (offline == nullptr) return text + ".";
  if (*offline->smallest_device >= *online->smallest_device) {
    return text + "; knowing all lifetimes beforehand gains nothing here.";
  }
  return text + fmt::format("; with all lifetimes known {} saves another {}.", phrase(*offline),
                            exact_bytes(*online->smallest_device - *offline->smallest_device));
}

const std::vector<std::pair<std::string, std::string>> kLabDefinitions = {
    {"lower bound", "the largest sum of live requested bytes; aligned: each size first rounded up"},
    {"requested, active", "live bytes at their highest, as asked for and as granted"},
    {"footprint", "the highest byte used; ratio: over the lower bound"},
    {"reserved", "driver memory at its highest"},
    {"internal, external",
     "granted - requested and footprint - granted, at the peak of active bytes"},
    {"holes", "1 - largest hole / free, at the same event: 0 is one hole, near 1 is dust"},
    {"smallest device",
     "the least capacity on which the whole trace runs; where the strategy adapts to its capacity, "
     "sought in steps of the device's granule (2 MiB): up to one less may do"},
    {"adapts",
     "caching and expandable give memory back at the capacity; bfc-two-ended lays out its upper "
     "end "
     "from there: in less than its footprint without a limit a run may fit all the same"},
    {"ns", "host bookkeeping alone, median and 99th percentile; a simulated driver does no work"},
    {"proof", "optimal: no plan is lower; else the gap to the proven bound"},
    {"left out",
     "pool-async (cudaMallocAsync): opaque, it doesn't say where buffers lie; run has it, on a "
     "GPU"},
    {"lifetimes", "half-open; at one time frees come before allocations"},
};

}  // namespace arenagrad
