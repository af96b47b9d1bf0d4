// Where a tape is cut for recomputation.
#pragma once

#include <vector>

#include "graph/options.h"
#include "graph/storage.h"

namespace arenagrad {

/// Nodes [0, end) in stretches, in order, none empty; one where nothing is recomputed. Throws Error
/// for a layer that is not there.
std::vector<Stretch> stretches(const Tape& tape, const Recompute& recompute, std::uint32_t end);

}  // namespace arenagrad
