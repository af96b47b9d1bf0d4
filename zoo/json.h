// A JSON text as a tree that remembers what specs need and the usual parsers lose: the order of
// members, numbers as written, duplicate keys (refused), and where every value stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "zoo/spec_error.h"

namespace arenagrad {

class JsonDocument;

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, integer, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;             // exact; an integer outside 64 bits is a `number`
  double number = 0;                    // finite
  std::string text;                     // a string's value; a number as written
  std::vector<const JsonValue*> items;  // of an array or an object, in order

  std::string key;        // in its object
  std::size_t place = 0;  // in its array
  const JsonValue* parent = nullptr;
  const JsonDocument* document = nullptr;

  bool is(Kind k) const { return kind == k; }
  /// An object's member, or null.
  const JsonValue* find(std::string_view name) const;
  /// Where it stands (RFC 6901); empty for the root.
  std::string pointer() const;
  /// For "found ...": `12`, `"text"`, `an array of 3`. Long strings are cut.
  std::string found() const;
};

class JsonDocument {
 public:
  /// Nesting of arrays and objects that is still read.
  static constexpr std::size_t kMaxDepth = 64;

  /// Throws SpecError for text that is not one JSON value, deeper nesting or duplicate keys. A
  /// UTF-8 byte order mark is skipped.
  static std::unique_ptr<JsonDocument> parse(std::string_view text, std::string file);

  const JsonValue& root() const { return values_.front(); }
  const std::string& file() const { return file_; }

 private:
  friend class JsonBuilder;
  explicit JsonDocument(std::string file) : file_(std::move(file)) {}

  std::string file_;
  std::deque<JsonValue> values_;  // addresses stay
};

/// Throws SpecError at `where`.
[[noreturn]] void fail(const JsonValue& where, const std::string& message);
[[noreturn]] void fail_expected(const JsonValue& where, std::string_view expected);

/// `text` between single quotes, control and non-ASCII bytes as \xNN, cut when long.
std::string in_quotes(std::string_view text);

}  // namespace arenagrad
