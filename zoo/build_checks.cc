#include "zoo/build_checks.h"

#include <string>
#include <vector>

namespace arenagrad {

Shape checked_shape(const SpecInput& input, const ModelOptions& options) {
  try {
    const Shape shape = options.input ? *options.input : Shape{std::span(input.dims)};
    checked_product(shape.elements(), 8);  // bytes, as f64
    return shape;
  } catch (const ShapeError& error) {
    fail(*input.json, std::string("sizes beyond 64 bits: ") + error.what());
  }
}

void SizeCheck::add(const Tape& tape, NodeId node, const JsonValue& where) {
  for (; parameters_ < tape.parameters().size(); ++parameters_) {
    add_bytes(tape.parameters()[parameters_].shape, "parameters", where);
  }
  add_bytes(tape.tensor(tape.node(node).output).shape, "layer outputs", where);
  if (__builtin_add_overflow(multiply_adds_, tape.node(node).multiply_adds, &multiply_adds_)) {
    fail(where, "sizes beyond 64 bits: expected less than 2^63 multiply-adds, found more");
  }
}

void SizeCheck::add_bytes(const Shape& shape, const char* what, const JsonValue& where) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), std::int64_t{8}, &bytes) ||
      __builtin_add_overflow(bytes_, bytes, &bytes_)) {
    fail(where, std::string("sizes beyond 64 bits: expected less than 2^63 bytes of ") + what +
                    " (as f64), found more at " + shape.text());
  }
}

void refuse_unused(const Tape& tape, TensorId output, const Spec& spec,
                   std::span<const JsonValue* const> sources) {
  std::vector<bool> used(tape.tensors().size());
  used[index(output)] = true;
  for (const TapeNode& node : tape.nodes()) {
    for (TensorId id : node.inputs) used[index(id)] = true;
  }
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    if (used[index(tape.inputs()[i])]) continue;
    fail(*spec.inputs[i].json, "unused: expected a layer that takes input " +
                                   in_quotes(spec.inputs[i].name) + ", found none");
  }
  for (std::size_t i = 0; i < tape.nodes().size(); ++i) {
    if (used[index(tape.nodes()[i].output)]) continue;
    fail(*sources[i], "unused: expected a later layer that takes the output of " +
                          in_quotes(tape.nodes()[i].name) + ", found none");
  }
}

}  // namespace arenagrad
