// The peak of one planned step as a linear function of the batch, found in the program itself.
//
// At any instruction of a program the live bytes are a sum of terms: buffers that don't depend on
// the batch, buffers of the micro-batch at work (proportional to its samples), those of the whole
// batch (two-pass), and what recorded forwards that wait for their backward keep. So the bytes at a
// given instant are linear in the batch, and a peak, the largest of them, is a maximum of linear
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "allocator/category.h"
#include "graph/program.h"

namespace arenagrad {

/// Bytes by category that may be negative: a term of a sum.
using SignedBytes = std::array<std::int64_t, kCategoryCount>;
std::int64_t total(const SignedBytes& bytes);

/// bytes(batch) = fixed + per_sample * batch + per_forward * forwards, by category, where forwards
/// is the number of micro-batches (1 in full-batch). `per_forward` is not 0 only where recorded
/// forwards wait (accumulated-graph); `fixed` may be negative there, because the micro-batch at
/// work at the peak has let go of a part of what the others still keep.
struct BatchLine {
  SignedBytes fixed{}, per_sample{}, per_forward{};

  SignedBytes at(std::int64_t batch, std::int64_t forwards) const;
  friend bool operator==(const BatchLine&, const BatchLine&) = default;
};

struct PlannedPeak {
  CategoryBytes by_category{};  // requested, at the first event where their sum is highest
  std::size_t requested = 0;
  std::string phase, layer, buffer;  // what was allocated there; the micro-batch is not named
  BatchLine line;
  SignedBytes per_sample_at_work{};  // what a sample of the micro-batch at work takes
  /// False in accumulated-graph with a last micro-batch smaller than the others: `line` then holds
  /// for this batch alone.
  bool whole = true;

  /// "backward of layer4.0.conv2".
  std::string where() const;
};

/// The peak over `steps` steps of requested bytes, which no strategy can change. `line` gives
/// exactly `by_category` at the program's own batch.
PlannedPeak planned_peak(const Program& program, const Tape& tape, std::int64_t steps);

/// The same peak without scratch and without temporaries, whose sizes may fall as the batch grows:
/// a bound on what any strategy needs that never falls.
std::size_t rising_bound(const Program& program, std::int64_t steps);

/// Micro-batches that a step records.
std::int64_t forwards(const PlanOptions& options);

}  // namespace arenagrad
