// One reference case, run out of an arena.
#pragma once

#include "kernels/backend.h"
#include "tests/numeric/reference_case.h"

namespace arenagrad::numeric {

/// How a case is run; none of it may change what comes out when samples are independent.
struct Way {
  GradientMode mode = GradientMode::full_batch;
  std::int64_t micro_batch = 0;  // samples; 0: the whole batch
  SavedPolicy policy = SavedPolicy::lean;
};

struct Outcome {
  Results results;
  /// Layers that couple the samples of a batch; when there are any and the batch was cut up, the
  /// results are those of another computation than the reference's.
  std::vector<std::string> coupled;
};

/// Three steps on the same batch, from the case's start: everything of step 1, running statistics
/// after steps 1 and 2, parameters after step 2, losses of all three. New memory is filled with
/// NaN.
Outcome run_case(const ReferenceCase& reference, DType dtype, const Way& way, Backend& backend);

}  // namespace arenagrad::numeric
