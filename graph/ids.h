// Indices into a tape's tables. Strong types, so that a node never passes for a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace arenagrad {

enum class TensorId : std::uint32_t {};
enum class NodeId : std::uint32_t {};
enum class ParameterId : std::uint32_t {};
enum class StateId : std::uint32_t {};

inline constexpr NodeId kNoNode{std::numeric_limits<std::uint32_t>::max()};
inline constexpr TensorId kNoTensor{std::numeric_limits<std::uint32_t>::max()};

constexpr std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(ParameterId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(StateId id) { return static_cast<std::size_t>(id); }

}  // namespace arenagrad
