// What can only be said of a spec once it is unfolded and shapes are known.
#pragma once

#include <cstdint>
#include <span>

#include "zoo/model.h"
#include "zoo/spec.h"

namespace arenagrad {

/// An input's shape, or the one that replaces it. Throws SpecError for one beyond 64 bits.
Shape checked_shape(const SpecInput& input, const ModelOptions& options);

/// All sizes are 64-bit. Adds up what a model takes, in bytes of the widest type.
class SizeCheck {
 public:
  /// Adds the node that was recorded last. Throws SpecError at `where` when a sum passes 2^63.
  void add(const Tape& tape, NodeId node, const JsonValue& where);

 private:
  void add_bytes(const Shape& shape, const char* what, const JsonValue& where);

  std::size_t parameters_ = 0;  // of the tape's, already added
  std::int64_t bytes_ = 0, multiply_adds_ = 0;
};

/// Something without a reader has no gradient; most often a name in "in" is not what was meant.
/// `sources`, by node, say where. Throws SpecError.
void refuse_unused(const Tape& tape, TensorId output, const Spec& spec,
                   std::span<const JsonValue* const> sources);

}  // namespace arenagrad
