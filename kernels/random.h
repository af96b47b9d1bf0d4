// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a value depends on its key and
// place alone, never on what was drawn before. So a sample has the same noise and the same dropout
// mask in every gradient mode, in a recomputed forward, and on every backend.
#pragma once

#include <cstdint>

namespace arenagrad {

enum class RandomPurpose : std::uint32_t { initialisation, noise, labels, dropout, shuffling };

/// Key (seed, purpose, node); counter (step, place of the sample in the step's whole batch,
/// element). `node` is the parameter's, input's or tape node's number. A parameter is one sample.
struct RandomStream {
  std::uint64_t seed;
  RandomPurpose purpose;
  std::uint32_t node;
  std::uint32_t step;
  std::int64_t first_sample;  // place in the step's whole batch of the tensor's sample 0
};

}  // namespace arenagrad
