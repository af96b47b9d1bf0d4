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

/// All sizes in bytes, as they were when the request was refused.
struct OutOfMemoryReport {
  Settings settings;
  std::string tensor;  // "layer1.0.conv1 output"
  std::string layer;   // at work; empty outside layers
  std::string phase;
  Category category{};
  Shape shape;
  DType dtype = DType::f32;
  std::size_t requested = 0, granted = 0;
  CategoryBytes live{};
  std::size_t live_total = 0;
  std::size_t footprint = 0, free = 0, largest_hole = 0, capacity = 0;
  std::size_t lower_bound = 0, aligned_bound = 0;  // of the whole run
  /// The aligned bound is within the capacity: without fragmentation it would have fitted.
  bool fits_without_fragmentation = false;
  std::vector<Alternative> alternatives;  // every other strategy
};

class DoesNotFit : public Error {
 public:
  explicit DoesNotFit(OutOfMemoryReport report);
  OutOfMemoryReport report;
};

/// Names the request and dry-runs every other strategy in the same capacity.
OutOfMemoryReport explain(const Experiment& experiment, const OutOfMemory& error);

/// Two or three sentences: what, why, and what would help.
std::string text(const OutOfMemoryReport& report);

}  // namespace arenagrad
