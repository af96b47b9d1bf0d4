// Random sequences of requests, given to a strategy and to its model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arenagrad::testing {

/// The strategies that have a model.
std::vector<std::string_view> modelled_strategies();

/// Sizes, lifetimes, alignment, granule, capacity and settings all come from the seed. Empty, or
/// what came out differently and where.
std::string check_against_model(std::string_view strategy, std::uint32_t seed);

}  // namespace arenagrad::testing
