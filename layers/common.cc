#include "layers/common.h"

#include <cmath>

namespace arenagrad {

void require_inputs(std::string_view op, std::span<const Shape> inputs, std::size_t count) {
  if (inputs.size() == count) return;
  throw ShapeError(std::string(op) + ": expected " + std::to_string(count) +
                   (count == 1 ? " input" : " inputs") + ", got " + std::to_string(inputs.size()));
}

void require_loss_inputs(std::string_view op, std::string_view outputs,
                         std::span<const Shape> inputs) {
  require_inputs(op, inputs, 2);
  if (inputs[0].rank() != 1)
    throw ShapeError(std::string(op) + ": expected " + std::string(outputs) +
                     " of one dimension per sample (put a flatten in front), got " +
                     inputs[0].text());
  if (inputs[1].elements() != 1)
    throw ShapeError(std::string(op) + ": expected one label per sample, got " + inputs[1].text());
}

void require_at_least_two(std::string_view op, std::span<const Shape> inputs) {
  if (inputs.size() >= 2) return;
  throw ShapeError(std::string(op) + ": expected at least 2 inputs, got " +
                   std::to_string(inputs.size()));
}

void require_rank(std::string_view op, const Shape& input, std::size_t rank,
                  std::string_view layout) {
  if (input.rank() == rank) return;
  throw ShapeError(std::string(op) + ": expected an input of shape " + std::string(layout) +
                   " per sample, got " + input.text());
}

void require_argument(std::string_view op, std::string_view argument, std::int64_t value,
                      std::int64_t minimum) {
  constexpr std::int64_t kLimit = (std::int64_t{1} << 31) - 1;
  if (value >= minimum && value <= kLimit) return;
  throw Error(std::string(op) + ": expected " + std::string(argument) + " from " +
              std::to_string(minimum) + " to " + std::to_string(kLimit) + ", got " +
              std::to_string(value));
}

std::string shapes_text(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : " and ") + shape.text();
  return text;
}

Needs needs_nothing(const Situation& situation) {
  Needs needs;
  needs.reads_inputs.assign(situation.inputs.size(), false);
  needs.keeps_inputs.assign(situation.inputs.size(), false);
  return needs;
}

Workspace scratch(PassContext& context, std::size_t bytes) {
  return bytes == 0 ? Workspace{} : context.workspace();
}

std::size_t input_count(const PassContext& context) { return context.needs().reads_inputs.size(); }

Tensor stash_if_saved(ForwardContext& context, std::size_t i) {
  const bool declared = i < context.needs().stashes.size();
  return context.saves() && declared ? context.stash(i) : Tensor{};
}

Initializer weight_initializer(const InitRule& rule, const Shape& weight) {
  const double receptive_field_inputs = static_cast<double>(weight.elements() / weight[0]);
  switch (rule.kind) {
    case InitRule::Kind::pytorch:
      return {Initializer::Kind::uniform, 1 / std::sqrt(receptive_field_inputs)};
    case InitRule::Kind::kaiming_fan_out:
      // Groups are not divided out: fan_out is the weight's first dimension times the window.
      return {Initializer::Kind::normal,
              std::sqrt(2 / (static_cast<double>(weight.elements() / weight[1])))};
    case InitRule::Kind::normal: return {Initializer::Kind::normal, rule.scale};
  }
  return {};
}

Initializer bias_initializer(const InitRule& rule, const Shape& weight) {
  if (rule.kind == InitRule::Kind::pytorch) return weight_initializer(rule, weight);
  return {Initializer::Kind::constant, 0};
}

std::int64_t spatial_size(const Shape& sample) { return sample.elements() / sample[0]; }

}  // namespace arenagrad
