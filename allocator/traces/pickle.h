// Python's pickles, protocols 2 to 5, as plain data. Opcodes that would import, call or build
// anything are refused: reading one can do nothing but fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "allocator/traces/byte_source.h"

namespace arenagrad {

/// A value; what it refers to is in its PickleTree. Lists and dicts that came up twice are shared.
struct PickleValue {
  enum class Kind : std::uint8_t { none, boolean, integer, huge, real, text, list, dict };
  Kind kind = Kind::none;  // huge: an integer that 64 bits don't hold; list: tuples and sets too
  union {
    std::int64_t integer = 0;  // and boolean
    double real;
    const std::string* text;  // bytes too; equal texts are one
    std::size_t container;
  };
};

class PickleTree {
 public:
  /// Most memory that the values may take, in bytes.
  static constexpr std::size_t kBudget = std::size_t{2} << 30;

  /// Reads one pickle, to its STOP. TraceError names the byte and the opcode.
  explicit PickleTree(ByteSource& source, std::size_t budget = kBudget);

  PickleValue root() const { return root_; }
  /// Where the opcode stands that made a list or dict: for messages.
  std::uint64_t position(PickleValue container) const {
    return containers_[container.container].position;
  }

  /// A list's items, or a dict's keys and values in turn.
  const std::vector<PickleValue>& items(PickleValue container) const {
    return containers_[container.container].items;
  }
  /// The value of a dict's key; nothing when there is none. Keys are read one by one: TraceError
  /// for a dict of more than kMostKeys.
  std::optional<PickleValue> find(PickleValue dict, std::string_view key) const;
  static constexpr std::size_t kMostKeys = 4096;

  [[noreturn]] void fail(const std::string& text, PickleValue container) const {
    source_.fail_byte(text, position(container));
  }

 private:
  struct Container {
    std::uint64_t position;
    std::vector<PickleValue> items;
  };
  friend class PickleReader;

  ByteSource& source_;
  PickleValue root_;
  std::deque<Container> containers_;
  std::unordered_set<std::string> texts_;
};

}  // namespace arenagrad
