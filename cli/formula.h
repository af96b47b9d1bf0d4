// A decomposition as a formula: for reading, for a paper, for a page that evaluates it.
#pragma once

#include <string>

#include "cli/batch_flags.h"
#include "experiments/sweep.h"

namespace arenagrad::cli {

/// text: a line for each piece, then the ruling one by category. latex: a `cases` environment. js:
/// a function of the batch that computes in BigInt and returns bytes by category and their total.
/// Each ends without a newline. A decomposition without pieces gives an empty text.
std::string formula(const std::string& model, const Decomposition& decomposition,
                    FormulaStyle style);

/// "123 + 456 x batch + 7 x micro-batches", terms that are 0 left out; numbers with commas.
std::string line_text(const BatchLine& line);

}  // namespace arenagrad::cli
