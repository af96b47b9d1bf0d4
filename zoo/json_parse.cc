// The one place that sees nlohmann_json (its headers are slow to compile). Its SAX interface shows
// duplicate keys and numbers as written, both of which its own tree loses.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "zoo/json.h"

namespace arenagrad {

class JsonBuilder {
 public:
  using Kind = JsonValue::Kind;

  JsonBuilder(JsonDocument& document, std::string_view text) : document_(document), text_(text) {}

  bool null() { return add(Kind::null), true; }
  bool boolean(bool value) {
    add(Kind::boolean).boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    JsonValue& v = add(Kind::integer);
    v.integer = value;
    v.text = std::to_string(value);
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = std::in_range<std::int64_t>(value);
    JsonValue& v = add(fits ? Kind::integer : Kind::number);
    v.integer = fits ? static_cast<std::int64_t>(value) : 0;
    v.number = static_cast<double>(value);
    v.text = std::to_string(value);
    return true;
  }
  bool number_float(double value, const std::string& written) {
    JsonValue& v = add(Kind::number);
    v.number = value;
    v.text = written;
    return true;
  }
  bool string(std::string& value) {
    add(Kind::string).text = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return false; }  // not in JSON text
  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool end_array() { return open_.pop_back(), true; }
  bool end_object() {
    refuse_duplicates(*open_.back());
    open_.pop_back();
    return true;
  }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) {
    // `position` counts the bytes read, the offending one included.
    const std::size_t offset = std::min(position > 0 ? position - 1 : 0, text_.size());
    fail_syntax(offset, explain(e.what(), text_.substr(0, offset)));
  }

  [[noreturn]] void fail_syntax(std::size_t offset, const std::string& message) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == before.npos ? offset + 1 : offset - newline;
    throw SpecError::syntax(document_.file_, line, column, message);
  }

  /// What the library would pass over or explain badly.
  void refuse_other_encodings() const {
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) {
      fail_syntax(0, "expected UTF-8 text, found UTF-16");
    }
    if (text_.find_first_not_of(" \t\r\n") == text_.npos) {
      fail_syntax(0, "expected a JSON object, found nothing: the text is empty");
    }
    // The library takes a zero byte for the end of the text.
    const std::size_t zero = text_.find('\0');
    if (zero != text_.npos) fail_syntax(zero, "expected JSON text, found a zero byte");
  }

 private:
  JsonValue& add(Kind kind) {
    JsonValue& v = document_.values_.emplace_back();
    v.kind = kind;
    v.document = &document_;
    if (!open_.empty()) {
      JsonValue& parent = *open_.back();
      v.parent = &parent;
      if (parent.is(Kind::object)) v.key = std::move(key_);
      v.place = parent.items.size();
      parent.items.push_back(&v);
    }
    return v;
  }

  bool open(Kind kind) {
    JsonValue& v = add(kind);
    if (open_.size() >= JsonDocument::kMaxDepth) {
      fail(v, "nested too deeply: expected at most " + std::to_string(JsonDocument::kMaxDepth) +
                  " arrays and objects inside each other, found more");
    }
    open_.push_back(&v);
    return true;
  }

  static void refuse_duplicates(const JsonValue& object) {
    std::vector<const JsonValue*> sorted = object.items;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto* a, auto* b) { return a->key < b->key; });
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                          [](auto* a, auto* b) { return a->key == b->key; });
    if (twice == sorted.end()) return;
    fail(**std::next(twice), "duplicate key " + in_quotes((*twice)->key) +
                                 ": expected once, found " + (*twice)->found() + " and " +
                                 (*std::next(twice))->found());
  }

  /// The library's message without its own tag and place; words of ours where those help more.
  std::string explain(std::string message, std::string_view before) const {
    const std::size_t word = before.find_last_of(" \t\r\n,:[{") + 1;  // npos + 1 is 0
    for (std::string_view name : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"}) {
      if (text_.substr(word, name.size()) == name) {
        return "expected a JSON value, found " + std::string(name) + ": numbers are finite";
      }
    }
    const std::size_t overflow = message.find("number overflow parsing ");
    if (overflow != message.npos) {
      return "expected a finite number, found " + message.substr(overflow + 24);
    }
    const std::size_t place = message.find("column ");
    const std::size_t colon = message.find(": ", place == message.npos ? 0 : place);
    if (colon != message.npos) message.erase(0, colon + 2);
    std::string clean;
    for (char c : message) clean += (c >= 0x20 && c <= 0x7e) ? c : '?';
    return clean;
  }

  JsonDocument& document_;
  std::string_view text_;
  std::vector<JsonValue*> open_;
  std::string key_;
};

std::unique_ptr<JsonDocument> JsonDocument::parse(std::string_view text, std::string file) {
  std::unique_ptr<JsonDocument> document(new JsonDocument(std::move(file)));
  JsonBuilder builder(*document, text);
  builder.refuse_other_encodings();
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  check_contract(!document->values_.empty(), "a JSON text was neither read nor refused");
  return document;
}

}  // namespace arenagrad
