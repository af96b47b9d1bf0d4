// A run that does not fit, explained: what asked for how much, what stood in its way, and who could
// have placed it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace arenagrad {

/// How another strategy does on the same requests in the same capacity.
struct Alternative {
  std::string strategy;
  bool fits = false;
  std::optional<std::size_t> footprint;  // in that capacity, or without a limit when it doesn't fit
};

/// All sizes in bytes, as they were when the request was refused. At that moment
/// live + internal waste + external waste = footprint.
struct OutOfMemoryReport {
  Settings settings;
  std::string device;  // the profile planned for
  std::int64_t parameters = 0;
  std::string tensor;  // "layer1.0.conv1 output"
  std::string layer;   // at work; empty outside layers
  std::string phase;
  Category category{};
  Shape shape;
  DType dtype = DType::f32;
  std::size_t requested = 0, granted = 0;
  CategoryBytes live{};
  std::size_t live_total = 0;
  std::size_t footprint = 0, reserved = 0, free = 0, largest_hole = 0, capacity = 0;
  std::size_t internal_waste = 0;  // granted - requested, over what was live
  std::size_t external_waste = 0;  // holes: free bytes below the footprint
  /// The largest live buffers. Where a plan did not fit, nothing is live: then those at the peak.
  std::vector<LiveBuffer> top;
  /// The strategy doesn't say where buffers lie: what is granted, needed, footprint, reserved,
  /// free, the hole and waste are not known, and not to be shown.
  bool opaque = false;
  /// What was asked for was a whole plan, which is reserved before its first request.
  bool whole_plan = false;
  std::size_t needed = 0;  // the footprint that would have served the request; the plan's height
  bool system_refused = false;  // the capacity would have done; this machine had no more
  std::size_t lower_bound = 0, aligned_bound = 0;  // of the whole run
  /// The aligned bound is within the capacity: without fragmentation it would have fitted.
  bool fits_without_fragmentation = false;
  /// What the strategy itself takes without a limit; nothing if it cannot run even so.
  std::optional<std::size_t> footprint_without_limit;
  std::vector<Alternative>
      alternatives;  // other strategies; not bump, nor slow planners on long runs
};

class DoesNotFit : public Error {
 public:
  explicit DoesNotFit(OutOfMemoryReport report);
  OutOfMemoryReport report;
};

/// Names the request and dry-runs every other strategy on the same run.
OutOfMemoryReport explain(const Experiment& experiment, const OutOfMemory& error);

/// Three short sentences: what asked and what stood in its way, whether it was fragmentation, and
/// the one strategy that would help most.
std::string text(const OutOfMemoryReport& report);

}  // namespace arenagrad
