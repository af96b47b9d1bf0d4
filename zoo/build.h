#pragma once

#include "zoo/model.h"
#include "zoo/spec.h"

namespace arenagrad {

/// Unfolds blocks and repeats and records every layer, then the loss, onto `model.tape`; sets what
/// belongs to it. Throws SpecError.
void build(const Spec& spec, const ModelOptions& options, Model& model);

}  // namespace arenagrad
