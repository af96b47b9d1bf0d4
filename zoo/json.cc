#include "zoo/json.h"

#include <utility>

namespace arenagrad {
namespace {

constexpr std::size_t kLongestQuote = 60;

/// RFC 6901: ~ and / are written ~0 and ~1.
std::string escaped_token(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  const bool cut = text.size() > kLongestQuote;
  std::string out;
  for (char c : text.substr(0, kLongestQuote)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return cut ? out + "..." : out;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  if (kind != Kind::object) return nullptr;
  for (const JsonValue* item : items) {
    if (item->key == name) return item;
  }
  return nullptr;
}

std::string JsonValue::pointer() const {
  std::string out;
  for (const JsonValue* v = this; v->parent; v = v->parent) {
    out.insert(0, "/" + (v->parent->kind == Kind::array ? std::to_string(v->place)
                                                        : escaped_token(v->key)));
  }
  return out;
}

std::string JsonValue::found() const {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return boolean ? "true" : "false";
    case Kind::integer:
    case Kind::number: return printable(text);
    case Kind::string: return "\"" + printable(text) + "\"";
    case Kind::array:
      return items.empty() ? "an empty array" : "an array of " + std::to_string(items.size());
    case Kind::object: return items.empty() ? "an empty object" : "an object";
  }
  return "nothing";
}

void fail(const JsonValue& where, const std::string& message) {
  throw SpecError(where.document->file(), where.pointer(), message);
}

void fail_expected(const JsonValue& where, std::string_view expected) {
  fail(where, "expected " + std::string(expected) + ", found " + where.found());
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

}  // namespace arenagrad
