// Checks and small steps that several layers share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/layer.h"
#include "layers/layers.h"

namespace arenagrad {

/// Throws ShapeError unless there are exactly `count` inputs.
void require_inputs(std::string_view op, std::span<const Shape> inputs, std::size_t count);
/// A loss's: outputs of one dimension per sample, called `outputs` in the message, and a label
/// each.
void require_loss_inputs(std::string_view op, std::string_view outputs,
                         std::span<const Shape> inputs);
/// Throws ShapeError for fewer than two inputs.
void require_at_least_two(std::string_view op, std::span<const Shape> inputs);
/// Throws ShapeError unless `input` has `rank` dimensions per sample; `layout` names them: "CxHxW".
void require_rank(std::string_view op, const Shape& input, std::size_t rank,
                  std::string_view layout);
/// Throws Error unless minimum <= value < 2^31, so that products of two such numbers are exact.
void require_argument(std::string_view op, std::string_view argument, std::int64_t value,
                      std::int64_t minimum);

/// "8x4x4 and 8x3x3"
std::string shapes_text(std::span<const Shape> shapes);

/// Needs of a layer that keeps nothing, its lists sized by the number of inputs.
Needs needs_nothing(const Situation& situation);

/// The declared scratch of a pass, or none where `bytes`, what was declared, is 0.
Workspace scratch(PassContext& context, std::size_t bytes);

std::size_t input_count(const PassContext& context);

/// A declared stash to write, or none where the pass saves nothing.
Tensor stash_if_saved(ForwardContext& context, std::size_t i);

/// How a weight [out, in, ...] and the bias that goes with it start.
Initializer weight_initializer(const InitRule& rule, const Shape& weight);
Initializer bias_initializer(const InitRule& rule, const Shape& weight);

/// Elements of a sample behind its first dimension.
std::int64_t spatial_size(const Shape& sample);

}  // namespace arenagrad
