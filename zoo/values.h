// From what a spec writes to what a layer takes: literals, and inside blocks "$parameter".
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "zoo/json.h"
#include "zoo/ops.h"

namespace arenagrad {

/// What a block's parameter can be.
using Value = std::variant<bool, std::int64_t, double, Pair>;

/// The parameters of one use of a block.
struct Binding {
  std::string_view name;
  Value value;
};
using Bindings = std::vector<Binding>;

/// True for a string with a '$'.
bool is_expression(const JsonValue& json);

/// Throws SpecError unless `json` is "$name" or a product like "4 * $channels" of names in `known`.
/// Values that are no expression pass; those inside lists are looked at.
void check_expressions(const JsonValue& json, std::span<const std::string_view> known);

/// A parameter's value: true, false, a number, [h, w] or an expression.
Value parameter_value(const JsonValue& json, const Bindings& bindings);

/// Each throws SpecError at `json` for a value of another type or outside the range, showing both.
ArgumentValue argument_value(const Argument& rule, const JsonValue& json, const Bindings& bindings);
std::int64_t integer_value(const JsonValue& json, const Bindings& bindings, double minimum,
                           double maximum = std::numeric_limits<double>::infinity());
bool boolean_value(const JsonValue& json, const Bindings& bindings);

/// "pytorch", "kaiming_fan_out" or {"normal": std}.
InitRule init_rule(const JsonValue& json);

}  // namespace arenagrad
