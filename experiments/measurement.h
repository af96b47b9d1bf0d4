// What one experiment found, as plain values. Bytes are exact; nothing here knows how it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/category.h"
#include "allocator/driver.h"
#include "experiments/settings.h"
#include "kernels/shape.h"

namespace arenagrad {

/// A buffer that is live at the peak.
struct LiveBuffer {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Category category{};
  std::size_t bytes = 0;
  /// Where it is born, and the last thing done before it dies: "forward of conv1".
  std::string born, dies;
};

/// All in bytes. Requested is what buffers need; granted the same after rounding to the alignment;
/// footprint = granted live + holes, the top of what the strategy used; reserved = footprint +
/// slack, what the driver gave. Each is its own highest value over the run.
struct ByteReport {
  CategoryBytes by_category_at_peak{};  // requested, at the event where peak_requested was reached
  std::size_t persistent = 0;           // parameters, model state, optimizer state
  std::size_t saved = 0;  // = saved_per_sample * samples recorded at once + saved_fixed
  std::size_t saved_per_sample = 0;
  std::size_t saved_fixed = 0;
  std::size_t peak_requested = 0;
  std::size_t peak_granted = 0;
  std::size_t footprint = 0;
  std::size_t reserved = 0;
  std::size_t lower_bound = 0;    // largest sum of live requested bytes: no strategy can do better
  std::size_t aligned_bound = 0;  // the same with every size rounded to the alignment
  std::size_t unaccounted = 0;    // driver memory at its highest that the ledger does not explain
  std::size_t context = 0;        // taken by libraries, not by us; measured, 0 for a dry run
  std::size_t host = 0;           // arrays of ours outside the arena: data sets, kept gradients
};

struct PeakAt {
  std::int64_t step = 0;  // 1-based; 0 during setup
  std::string phase;
  std::string layer;   // empty: none at work
  std::string buffer;  // the one whose allocation set the peak
};

/// Medians over the steps; the first is left out when there are more.
struct Seconds {
  double forward = 0, backward = 0, update = 0, step_median = 0;
};

struct Measurement {
  std::string name;     // the model's
  std::string device;   // the profile planned for
  std::string backend;  // what computed: "cpu"; "none" for a dry run
  /// False: nobody here could say how much scratch the device's convolutions take, and none is in
  /// the bytes.
  bool workspace_included = true;
  /// The strategy doesn't say where buffers lie: what is granted, footprint, reserved and
  /// unaccounted are not known and 0.
  bool opaque = false;
  std::optional<PoolCounters> pool;  // of an opaque strategy's run, at its end
  Settings settings;
  std::int64_t parameters = 0;
  bool balanced = false;  // every identity held; see docs/design.md, "The books must balance"
  std::optional<bool> planned_equals_observed;  // none for a dry run
  std::uint64_t events = 0, digest = 0;         // of the ledger
  ByteReport bytes;
  PeakAt peak_at;
  std::vector<LiveBuffer> top;
  std::vector<double> losses;      // by step; empty for a dry run
  std::optional<Seconds> seconds;  // none for a dry run
};

}  // namespace arenagrad
