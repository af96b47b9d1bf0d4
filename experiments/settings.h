// What the user asks for, apart from the model: everything that decides an experiment. Two equal
// settings on the same model give the same bytes, and on one backend the same numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/options.h"
#include "kernels/profile.h"

namespace arenagrad {

struct Settings {
  PlanOptions plan;
  std::string strategy = "best-fit";
  std::optional<std::size_t> capacity;  // bytes; none: the profile's
  std::uint64_t seed = 0;
  int threads = 0;  // 0: as many as the machine has
  std::int64_t steps = 1;
  std::size_t top = 10;  // largest live buffers to list
  Profile profile = cpu_profile();
};

/// The same settings in another gradient mode. The micro-batch stays: full-batch computes on the
/// whole batch, but calibrates on the first micro-batch as the other modes do, so that all of them
/// start from the same running statistics.
inline Settings in_mode(Settings settings, GradientMode mode) {
  settings.plan.mode = mode;
  return settings;
}

}  // namespace arenagrad
