// Which tensors of one recorded forward share memory, and how long each piece is needed. Internal
// to the planner.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "graph/options.h"
#include "graph/program.h"

namespace arenagrad {

/// Nodes [begin, end) of a tape, run as one: what they read from before was lent to them, what
/// later nodes read of theirs may outlive them.
struct Stretch {
  std::uint32_t begin = 0, end = 0;
  auto operator<=>(const Stretch&) const = default;
};

/// What a forward pass over a stretch is for.
struct ForwardKind {
  Stretch stretch;
  std::int64_t samples = 0;
  RunMode run = RunMode::train;
  bool saves = false;      // backward follows
  bool lends = false;      // what later nodes read outlives it
  bool keeps_fed = false;  // so do the inputs that it feeds: it will run again
  bool again = false;      // it does: inputs are lent to it too
  auto operator<=>(const ForwardKind&) const = default;
};

/// One piece of memory of a forward pass: a tensor, with all that alias it or overwrite it in
/// place.
struct Storage {
  TensorId first;  // the tensor that it's born for; kNoTensor for a stash
  NodeId stash_node = kNoNode;
  std::uint8_t stash_slot = 0;
  std::size_t bytes;
  NodeId last_reader = kNoNode;  // in forward; kNoNode: none after its birth
  std::uint32_t savers = 0;      // nodes whose backward wants it
  bool borrowed = false;         // made outside of the stretch, which neither births nor frees it
};

/// What one node does in a forward pass of a given batch and mode.
struct NodeStorage {
  bool runs_backward = false;
  std::uint32_t needs = 0;  // index into Program::needs
  bool births_output = false;
  std::vector<std::uint32_t> stashes;       // storage by slot
  std::vector<std::uint32_t> born_stashes;  // those that need memory of their own
  std::vector<std::uint32_t> saved;         // storages that its backward wants, each once
  std::vector<std::uint32_t> dying;         // storages to free after its forward
};

/// Whether it is an input of the tape, written from outside.
inline bool is_fed(const Tape& tape, const Storage& storage) {
  return storage.first != kNoTensor && tape.tensor(storage.first).producer == kNoNode;
}

inline constexpr std::uint32_t kNoStorage = ~std::uint32_t{0};

struct StorageMap {
  ForwardKind kind;
  std::vector<Storage> storages;
  std::vector<std::uint32_t> of_tensor;  // storage by TensorId; kNoStorage outside of the stretch
  std::vector<NodeStorage> nodes;        // by NodeId; those of the stretch are filled in
  std::vector<TensorId> fed;             // inputs of the tape that it feeds
  std::vector<TensorId> leaving;         // its tensors that later nodes read, when it lends
  std::vector<std::uint32_t> escapes;    // storages that outlive it
};

/// Which tensors want a gradient, and which nodes run backward. The same for every batch.
struct GradientNeeds {
  std::vector<bool> tensor;  // by TensorId
  std::vector<bool> node;    // by NodeId
};
GradientNeeds gradient_needs(const Tape& tape, const PlanOptions& options);

/// Asks every layer what it needs (appending to `needs`) and decides aliases and in-place writes:
/// an output may overwrite an input that nobody reads later, in forward or backward.
StorageMap map_storage(const Tape& tape, const Profile& profile, const PlanOptions& options,
                       const GradientNeeds& gradients, const ForwardKind& kind,
                       std::vector<Needs>& needs);

/// Bytes of `elements` elements, or Error where that passes 2^63 - 1.
std::size_t checked_bytes(const Shape& shape, DType dtype);

}  // namespace arenagrad
