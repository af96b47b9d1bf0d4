#include "tests/zoo/schema.h"

#include <regex.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;

bool is_number(const JsonValue& v) { return v.is(Kind::integer) || v.is(Kind::number); }

double number(const JsonValue& v) { return v.is(Kind::integer) ? double(v.integer) : v.number; }

bool equal(const JsonValue& a, const JsonValue& b) {
  if (is_number(a) && is_number(b)) return number(a) == number(b);
  if (a.kind != b.kind || a.boolean != b.boolean || a.text != b.text) return false;
  return std::ranges::equal(a.items, b.items, [](auto* x, auto* y) { return equal(*x, *y); });
}

bool has_type(const JsonValue& v, const std::string& type) {
  if (type == "null") return v.is(Kind::null);
  if (type == "boolean") return v.is(Kind::boolean);
  if (type == "string") return v.is(Kind::string);
  if (type == "array") return v.is(Kind::array);
  if (type == "object") return v.is(Kind::object);
  if (type == "number") return is_number(v);
  if (type == "integer") return is_number(v) && number(v) == std::floor(number(v));
  throw std::logic_error("unknown type " + type);
}

/// POSIX extended, which draft 7's patterns are as far as these go. (Under sanitizers g++ 12 warns
/// of std::regex.)
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    if (regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
      throw std::logic_error("no pattern: " + text);
    }
  }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool matches(const std::string& text) const {
    return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_;
};

class Validator {
 public:
  explicit Validator(const JsonValue& root) : root_(root) {}

  std::string check(const JsonValue& schema, const JsonValue& v) {
    if (schema.is(Kind::boolean)) return schema.boolean ? "" : at(v, "nothing is allowed here");
    // Draft 7: what stands beside $ref is ignored.
    if (const JsonValue* ref = schema.find("$ref")) return check(definition(ref->text), v);
    for (const JsonValue* keyword : schema.items) {
      std::string violation = check_keyword(schema, *keyword, v);
      if (!violation.empty()) return violation;
    }
    return "";
  }

 private:
  static std::string at(const JsonValue& v, const std::string& what) {
    return v.pointer() + ": " + what;
  }
  static std::string unless(bool holds, const JsonValue& v, const std::string& what) {
    return holds ? "" : at(v, what);
  }

  const JsonValue& definition(const std::string& ref) const {
    const std::string prefix = "#/definitions/";
    const JsonValue* found = ref.starts_with(prefix)
                                 ? root_.find("definitions")->find(ref.substr(prefix.size()))
                                 : nullptr;
    if (!found) throw std::logic_error("no definition " + ref);
    return *found;
  }

  std::string check_keyword(const JsonValue& schema, const JsonValue& keyword, const JsonValue& v) {
    static const std::set<std::string> annotations{"$schema", "title", "description", "default",
                                                   "definitions"};
    const std::string& name = keyword.key;
    if (annotations.contains(name)) return "";
    if (name == "type") {
      if (keyword.is(Kind::string)) return unless(has_type(v, keyword.text), v, keyword.text);
      const bool any =
          std::ranges::any_of(keyword.items, [&](auto* t) { return has_type(v, t->text); });
      return unless(any, v, "type");
    }
    if (name == "const") return unless(equal(v, keyword), v, "const " + keyword.text);
    if (name == "enum") {
      return unless(std::ranges::any_of(keyword.items, [&](auto* e) { return equal(v, *e); }), v,
                    "enum");
    }
    if (name == "anyOf") return unless(matches(keyword, v) >= 1, v, "anyOf");
    if (name == "oneOf") return unless(matches(keyword, v) == 1, v, "oneOf");
    if (name == "allOf") return unless(matches(keyword, v) == keyword.items.size(), v, "allOf");
    if (name == "not") return unless(!check(keyword, v).empty(), v, "not");
    return check_sized_keyword(schema, keyword, v);
  }

  std::string check_sized_keyword(const JsonValue& schema, const JsonValue& keyword,
                                  const JsonValue& v) {
    const std::string& name = keyword.key;
    const double limit = number(keyword);
    if (name == "minimum") return unless(!is_number(v) || number(v) >= limit, v, name);
    if (name == "maximum") return unless(!is_number(v) || number(v) <= limit, v, name);
    if (name == "exclusiveMaximum") return unless(!is_number(v) || number(v) < limit, v, name);
    const double size = double(v.items.size());
    if (name == "minItems") return unless(!v.is(Kind::array) || size >= limit, v, name);
    if (name == "maxItems") return unless(!v.is(Kind::array) || size <= limit, v, name);
    if (name == "minProperties") return unless(!v.is(Kind::object) || size >= limit, v, name);
    if (name == "maxProperties") return unless(!v.is(Kind::object) || size <= limit, v, name);
    if (name == "maxLength") {
      return unless(!v.is(Kind::string) || double(v.text.size()) <= limit, v, name);
    }
    if (name == "pattern") {
      return unless(!v.is(Kind::string) || pattern(keyword.text).matches(v.text), v,
                    name + " " + keyword.text);
    }
    if (name == "items" || name == "uniqueItems") return check_items(keyword, v);
    return check_members(schema, keyword, v);
  }

  std::string check_items(const JsonValue& keyword, const JsonValue& v) {
    if (!v.is(Kind::array)) return "";
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      if (keyword.key == "items") {
        std::string violation = check(keyword, *v.items[i]);
        if (!violation.empty()) return violation;
        continue;
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (equal(*v.items[i], *v.items[j])) return at(*v.items[i], "uniqueItems");
      }
    }
    return "";
  }

  std::string check_members(const JsonValue& schema, const JsonValue& keyword, const JsonValue& v) {
    const std::string& name = keyword.key;
    if (!v.is(Kind::object)) return "";
    if (name == "required") {
      for (const JsonValue* key : keyword.items) {
        if (!v.find(key->text)) return at(v, "required " + key->text);
      }
      return "";
    }
    if (name == "dependencies") {
      for (const JsonValue* dependency : keyword.items) {
        if (!v.find(dependency->key)) continue;
        for (const JsonValue* key : dependency->items) {
          if (!v.find(key->text)) return at(v, "dependencies " + key->text);
        }
      }
      return "";
    }
    for (const JsonValue* member : v.items) {
      const JsonValue* known = nullptr;
      if (const JsonValue* properties = schema.find("properties")) {
        known = properties->find(member->key);
      }
      std::string violation;
      if (name == "properties") {
        if (known) violation = check(*known, *member);
      } else if (name == "additionalProperties") {
        if (!known) violation = check(keyword, *member);
      } else if (name == "propertyNames") {
        JsonValue key;
        key.kind = Kind::string;
        key.text = member->key;
        if (!check(keyword, key).empty()) violation = at(*member, name);
      } else {
        throw std::logic_error("unknown keyword " + name);
      }
      if (!violation.empty()) return violation;
    }
    return "";
  }

  std::size_t matches(const JsonValue& schemas, const JsonValue& v) {
    return static_cast<std::size_t>(
        std::ranges::count_if(schemas.items, [&](auto* s) { return check(*s, v).empty(); }));
  }

  const Pattern& pattern(const std::string& text) {
    return patterns_.try_emplace(text, text).first->second;
  }

  const JsonValue& root_;
  std::map<std::string, Pattern> patterns_;
};

}  // namespace

std::string schema_violation(const JsonValue& schema, const JsonValue& value) {
  return Validator(schema).check(schema, value);
}

}  // namespace arenagrad
