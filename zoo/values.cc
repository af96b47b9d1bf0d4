#include "zoo/values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "zoo/hint.h"

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLongestExpression = 256;
constexpr std::string_view kExpressionForm = "\"$parameter\" or a product like \"4 * $parameter\"";
constexpr std::string_view kValueForm = "a number, true, false, [height, width] or \"$parameter\"";

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(' ');
  return first == s.npos ? "" : s.substr(first, s.find_last_not_of(' ') + 1 - first);
}

/// Calls `factor` for each part between '*'.
template <class Factor>
void for_each_factor(std::string_view text, Factor factor) {
  while (true) {
    const std::size_t star = text.find('*');
    factor(trimmed(text.substr(0, star)));
    if (star == text.npos) return;
    text.remove_prefix(star + 1);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::string text(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value)) {
    char shortest[32];
    return {shortest, std::to_chars(shortest, shortest + sizeof shortest, *d).ptr};
  }
  const Pair& p = std::get<Pair>(value);
  return "[" + std::to_string(p[0]) + ", " + std::to_string(p[1]) + "]";
}

[[noreturn]] void fail_value(const JsonValue& json, std::string_view expected, const Value& value) {
  if (!is_expression(json)) fail_expected(json, expected);
  fail(json, "expected " + std::string(expected) + ", found " + text(value) + ", the value of " +
                 json.found());
}

Value evaluate(const JsonValue& json, const Bindings& bindings) {
  std::vector<Value> factors;
  for_each_factor(json.text, [&](std::string_view factor) {
    if (!factor.starts_with('$')) {
      factors.emplace_back(*whole_number(factor));
      return;
    }
    const auto bound = std::ranges::find(bindings, factor.substr(1), &Binding::name);
    check_contract(bound != bindings.end(), "a parameter was not bound");
    factors.push_back(bound->value);
  });
  if (factors.size() == 1) return factors.front();
  std::int64_t product = 1;
  for (const Value& factor : factors) {
    const auto* i = std::get_if<std::int64_t>(&factor);
    if (!i) {
      fail(json, "expected integers to multiply, found " + text(factor) + " in " + json.found());
    }
    if (__builtin_mul_overflow(product, *i, &product)) {
      fail(json,
           "expected a product within 64 bits, found a larger one: the value of " + json.found());
    }
  }
  return product;
}

/// Reads a literal as it stands; nothing where it has none of the types of a value.
std::optional<Value> scalar(const JsonValue& json, const Bindings& bindings) {
  if (json.is(Kind::boolean)) return json.boolean;
  if (json.is(Kind::integer)) return json.integer;
  if (json.is(Kind::number)) return json.number;
  if (is_expression(json)) return evaluate(json, bindings);
  return std::nullopt;
}

/// An integer beyond 64 bits arrives as a number: say so.
[[noreturn]] void fail_integer(const JsonValue& json, std::string_view expected) {
  const bool digits =
      json.is(Kind::number) && json.text.find_first_not_of("-0123456789") == std::string::npos;
  if (digits) {
    fail(json, "expected " + std::string(expected) + ", found " + json.found() +
                   ", which is no signed 64-bit integer");
  }
  const bool whole = json.is(Kind::number);
  if (whole) {
    fail(json, "expected " + std::string(expected) + ", found " + json.found() +
                   ": write it without fraction and exponent");
  }
  fail_expected(json, expected);
}

/// `rule` says what was expected where `json` is something else; its text is made only then.
std::int64_t checked_integer(const Argument& rule, const JsonValue& json,
                             const Bindings& bindings) {
  const std::optional<Value> value = scalar(json, bindings);
  const auto* i = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  if (!i && is_expression(json)) fail_value(json, rule.expected(), *value);
  if (!i) fail_integer(json, rule.expected());
  if (!rule.in_range(double(*i))) fail_value(json, rule.expected(), *i);
  return *i;
}

Pair pair_of(const Argument& element, const JsonValue& json, const Bindings& bindings) {
  return {checked_integer(element, *json.items[0], bindings),
          checked_integer(element, *json.items[1], bindings)};
}

Pair pair_value(const Argument& rule, const JsonValue& json, const Bindings& bindings) {
  if (json.is(Kind::array)) {
    if (json.items.size() != 2) fail_expected(json, rule.expected());
    Argument element = rule;
    element.kind = ArgumentKind::integer;
    return pair_of(element, json, bindings);
  }
  if (is_expression(json)) {
    const Value value = evaluate(json, bindings);
    if (const auto* pair = std::get_if<Pair>(&value)) {
      const bool fits = rule.in_range(double((*pair)[0])) && rule.in_range(double((*pair)[1]));
      if (!fits) fail_value(json, rule.expected(), value);
      return *pair;
    }
  }
  const std::int64_t both = checked_integer(rule, json, bindings);
  return {both, both};
}

double number_value(const Argument& rule, const JsonValue& json, const Bindings& bindings) {
  const std::optional<Value> value = scalar(json, bindings);
  if (!value) fail_expected(json, rule.expected());
  const auto* d = std::get_if<double>(&*value);
  const auto* i = std::get_if<std::int64_t>(&*value);
  if (!d && !i) fail_value(json, rule.expected(), *value);
  const double number = d ? *d : double(*i);
  if (!rule.in_range(number)) fail_value(json, rule.expected(), *value);
  return number;
}

}  // namespace

bool is_expression(const JsonValue& json) {
  return json.is(Kind::string) && json.text.find('$') != std::string::npos;
}

void check_expressions(const JsonValue& json, std::span<const std::string_view> known) {
  if (json.is(Kind::array)) {
    for (const JsonValue* item : json.items) check_expressions(*item, known);
  }
  if (!is_expression(json)) return;
  if (json.text.size() > kLongestExpression) {
    fail_expected(json, "at most " + std::to_string(kLongestExpression) + " characters");
  }
  for_each_factor(json.text, [&](std::string_view factor) {
    if (factor.starts_with('$') && factor.size() > 1) {
      const std::string_view name = factor.substr(1);
      if (std::ranges::find(known, name) != known.end()) return;
      fail(json, "no parameter " + in_quotes(name) + " here: expected " +
                     (known.empty() ? "a value, as there are no parameters outside blocks"
                                    : "one of the block's parameters") +
                     ", found " + json.found() + hint(name, known));
    }
    if (!whole_number(factor)) fail_expected(json, kExpressionForm);
  });
}

Value parameter_value(const JsonValue& json, const Bindings& bindings) {
  if (json.is(Kind::array)) {
    if (json.items.size() != 2) fail_expected(json, kValueForm);
    const Argument any{.key = "", .kind = ArgumentKind::integer, .minimum = -kInfinity};
    return pair_of(any, json, bindings);
  }
  const std::optional<Value> value = scalar(json, bindings);
  if (!value) fail_expected(json, kValueForm);
  return *value;
}

ArgumentValue argument_value(const Argument& rule, const JsonValue& json,
                             const Bindings& bindings) {
  switch (rule.kind) {
    case ArgumentKind::integer: return checked_integer(rule, json, bindings);
    case ArgumentKind::pair: return pair_value(rule, json, bindings);
    case ArgumentKind::boolean: return boolean_value(json, bindings);
    case ArgumentKind::number: return number_value(rule, json, bindings);
    case ArgumentKind::init: return init_rule(json);
  }
  throw ContractError("an argument of no kind");
}

std::int64_t integer_value(const JsonValue& json, const Bindings& bindings, double minimum,
                           double maximum) {
  return checked_integer(
      {.key = "", .kind = ArgumentKind::integer, .minimum = minimum, .maximum = maximum}, json,
      bindings);
}

bool boolean_value(const JsonValue& json, const Bindings& bindings) {
  const std::optional<Value> value = scalar(json, bindings);
  if (!value) fail_expected(json, "true or false");
  if (const auto* b = std::get_if<bool>(&*value)) return *b;
  fail_value(json, "true or false", *value);
}

InitRule init_rule(const JsonValue& json) {
  const Argument rule{.key = "init", .kind = ArgumentKind::init};
  if (json.is(Kind::string) && json.text == "pytorch") return {};
  if (json.is(Kind::string) && json.text == "kaiming_fan_out") {
    return {InitRule::Kind::kaiming_fan_out, 0};
  }
  if (!json.is(Kind::object) || json.items.size() != 1 || json.items[0]->key != "normal") {
    fail_expected(json, rule.expected());
  }
  check_expressions(*json.items[0], {});
  const Argument deviation{.key = "normal", .kind = ArgumentKind::number};
  return {InitRule::Kind::normal, number_value(deviation, *json.items[0], {})};
}

}  // namespace arenagrad
