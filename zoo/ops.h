// The ops that a spec can name. One table drives how layers are read, what is suggested for unknown
// keys, how layers are made, and (in the tests) what the JSON Schema has to say.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layers/layers.h"

namespace arenagrad {

/// none: left out, and what it means then depends on the op (a pool's stride is its kernel).
struct None {
  friend bool operator==(None, None) = default;
};
using Pair = std::array<std::int64_t, 2>;
using ArgumentValue = std::variant<None, std::int64_t, Pair, bool, double, InitRule>;

enum class ArgumentKind : std::uint8_t {
  integer,
  pair,  // an integer or [height, width]
  boolean,
  number,
  init,
};

struct Argument {
  std::string_view key;
  ArgumentKind kind;
  bool required = false;
  ArgumentValue standard = None{};  // when left out
  /// Inclusive, for integers, both of a pair, and numbers; `below` makes the upper end exclusive.
  double minimum = 0, maximum = std::numeric_limits<double>::infinity();
  bool below = false;

  /// "an integer of at least 1", for messages.
  std::string expected() const;
  bool in_range(double value) const {
    return value >= minimum && (below ? value < maximum : value <= maximum);
  }
};

/// Values in the order of an op's table, fetched by key.
class Arguments {
 public:
  Arguments(std::span<const Argument> table, std::span<const ArgumentValue> values)
      : table_(table), values_(values) {}

  std::int64_t integer(std::string_view key) const { return get<std::int64_t>(key); }
  Pair pair(std::string_view key) const { return get<Pair>(key); }
  bool boolean(std::string_view key) const { return get<bool>(key); }
  double number(std::string_view key) const { return get<double>(key); }
  InitRule init(std::string_view key) const { return get<InitRule>(key); }
  bool has(std::string_view key) const { return !std::holds_alternative<None>(value(key)); }

 private:
  const ArgumentValue& value(std::string_view key) const;
  template <class T>
  T get(std::string_view key) const {
    return std::get<T>(value(key));
  }

  std::span<const Argument> table_;
  std::span<const ArgumentValue> values_;
};

struct Op {
  std::string_view name;
  std::size_t min_inputs, max_inputs;
  bool has_parameters;
  std::vector<Argument> arguments;
  std::unique_ptr<Layer> (*make)(const Arguments&);
  /// After a layer has refused its inputs: the key at fault, or nothing where it is no single one.
  std::string_view (*blame)(const Arguments&, std::span<const Shape> inputs) = nullptr;
};

/// Immutable; made once.
std::span<const Op> ops();
/// Null when there is none.
const Op* find_op(std::string_view name);

}  // namespace arenagrad
