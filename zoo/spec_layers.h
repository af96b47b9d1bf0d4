#pragma once

#include "zoo/spec.h"

namespace arenagrad {

/// Reads "layers" of `list.json` into `list`, whose inputs and visible parameters are known. The
/// blocks' headers (inputs, parameters) have to be known as well; their layers need not be.
void read_layers(const Spec& spec, LayerList& list);

/// Throws SpecError for blocks that include themselves, or each other more than kMaxDepth deep.
void refuse_block_cycles(const Spec& spec);

}  // namespace arenagrad
