// The allocator lab: every strategy on the same requests, held against what no strategy can beat.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/replay.h"
#include "experiments/requests.h"

namespace arenagrad {

/// All sizes in bytes. What each means is printed under the table (`kLabDefinitions`).
struct LabRow {
  std::string strategy;
  bool offline = false;
  std::string error;  // why there are no figures; empty when there are
  std::size_t peak_requested = 0, peak_active = 0, footprint = 0, reserved = 0;
  std::size_t internal_waste = 0, external_waste = 0;
  double hole_ratio = 0;  // 1 - largest hole / free, at the peak of active bytes
  std::optional<std::size_t> smallest_device;
  std::size_t driver_calls = 0, driver_bytes = 0;
  ReplayTimes times;
  std::optional<double> plan_seconds;  // offline planners
  std::optional<std::size_t> first_step_footprint;
  bool proven = false;                // offline: the height is the least there is
  std::optional<std::size_t> bound;   // offline: proven lower bound
  bool truncated = false;             // stopped by the clock
  std::optional<bool> fits_capacity;  // of LabOptions::capacity
};

struct LabReport {
  RequestTrace trace;
  std::size_t lower_bound = 0, aligned_bound = 0;
  std::vector<LabRow> rows;
};

struct LabOptions {
  std::vector<std::string> only;        // empty: all strategies
  std::optional<double> seconds;        // per planner and per search
  std::optional<std::size_t> capacity;  // also say who fits it
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string& strategy, const std::string& doing)> progress;
};

/// Throws Error for an unknown strategy, Interrupted.
LabReport run_lab(RequestTrace trace, const LabOptions& options);

/// "best-fit takes 0.3 % more than the bound; ...": a sentence with figures.
std::string recommendation(const LabReport& report);

extern const std::vector<std::pair<std::string, std::string>> kLabDefinitions;

}  // namespace arenagrad
