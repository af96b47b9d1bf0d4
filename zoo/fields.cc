#include "zoo/fields.h"

#include <algorithm>

#include "zoo/hint.h"

namespace arenagrad {
namespace {

constexpr std::size_t kLongestName = 64;

bool fits_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

void require_object(const JsonValue& json, std::string_view expected) {
  if (!json.is(JsonValue::Kind::object)) fail_expected(json, expected);
}

void refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                         std::string_view owner) {
  for (const JsonValue* member : object.items) {
    if (std::ranges::find(known, member->key) != known.end()) continue;
    fail(*member, "unknown key " + in_quotes(member->key) + " of " + std::string(owner) +
                      hint(member->key, known));
  }
}

const JsonValue& required(const JsonValue& object, std::string_view key,
                          std::string_view expected) {
  if (const JsonValue* found = object.find(key)) return *found;
  fail(object,
       "missing key " + in_quotes(key) + ": expected " + std::string(expected) + ", found nothing");
}

const std::string& string_of(const JsonValue& json, std::string_view expected) {
  if (!json.is(JsonValue::Kind::string)) fail_expected(json, expected);
  return json.text;
}

void check_name(const JsonValue& json, std::string_view name, std::string_view what) {
  if (!name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, fits_a_name))
    return;
  fail(json, std::string(what) + ": expected 1 to " + std::to_string(kLongestName) +
                 " letters, digits, '_' and '-', found " + in_quotes(name));
}

void check_description(const JsonValue& object) {
  if (const JsonValue* text = object.find("description")) string_of(*text, "a text");
}

}  // namespace arenagrad
