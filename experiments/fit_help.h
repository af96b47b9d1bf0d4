// Parts of `fit`: whether a batch fits, other ways to a batch, and what helps when none fits.
#pragma once

#include "experiments/fit.h"

namespace arenagrad {

/// The device with kernels whose scratch is known: for what does not depend on scratch, without
/// asking a library about engines.
Program plan_without_engines(const Model& model, const Settings& settings);

/// Whether the settings' bound without scratch is within their capacity. A batch that cannot be
/// planned for another reason than its size may fit as far as this can tell.
bool bound_fits(const Model& model, const Settings& settings);

struct Attempt {
  std::optional<std::size_t> footprint;  // nothing: it does not fit, or could not be planned
  std::string refused;                   // why it could not be planned
};
/// A dry run under the settings' strategy and capacity.
Attempt footprint_of(const Model& model, const Settings& settings);

/// The ways to a gradient over `batch` samples: all at once, recorded forwards, and backward after
/// each of the largest micro-batches that fit.
std::vector<Route> routes(const Model& model, const FitOptions& options, const Settings& settings,
                          std::int64_t batch, const std::function<bool()>& out_of_time);

/// What makes the smallest batch fit, or take less.
std::vector<Remedy> remedies(const Model& model, const FitOptions& options,
                             const Settings& settings, const OutOfMemoryReport& report);

}  // namespace arenagrad
