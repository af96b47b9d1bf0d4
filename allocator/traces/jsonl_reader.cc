// Our own format: a JSON object a line, the first one the header.
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "allocator/nearest.h"
#include "allocator/traces/checks.h"
#include "allocator/traces/formats.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;
using Json = nlohmann::json;

enum Key : std::uint8_t {
  key_version,
  key_op,
  key_id,
  key_bytes,
  key_granted,
  key_offset,
  key_alignment,
  key_time,
  key_category,
  key_name,
  key_layer,
  key_phase,
  key_step,
};
constexpr std::array<std::string_view, 13> kKeys = {
    "arenagrad_trace", "op",   "id",    "bytes", "granted", "offset", "alignment", "time",
    "category",        "name", "layer", "phase", "step"};

constexpr unsigned bit(Key key) { return 1u << key; }
constexpr bool is_text(std::size_t key) {
  return key == key_op || key == key_category || key == key_name || key == key_layer ||
         key == key_phase;
}

/// Which keys an operation must and may have.
struct Shape {
  unsigned needs, may;
};
Shape shape_of(Kind kind) {
  constexpr unsigned at = bit(key_time);
  switch (kind) {
    case Kind::allocate:
      return {bit(key_id) | bit(key_bytes), at | bit(key_granted) | bit(key_offset) |
                                                bit(key_alignment) | bit(key_category) |
                                                bit(key_name)};
    case Kind::free: return {bit(key_id), at};
    case Kind::refuse:
      return {bit(key_bytes),
              at | bit(key_id) | bit(key_alignment) | bit(key_category) | bit(key_name)};
    case Kind::scope: return {0, at | bit(key_layer) | bit(key_phase) | bit(key_step)};
    default: return {bit(key_offset) | bit(key_bytes), at};
  }
}

/// One line, as a flat object. Kept from line to line, so that nothing is allocated for each.
class Line final : public nlohmann::json_sax<Json> {
 public:
  void reset() {
    present_ = 0;
    depth_ = 0;
    problem_.clear();
  }
  bool has(Key key) const { return (present_ & bit(key)) != 0; }
  unsigned present() const { return present_; }
  const std::string& text(Key key) const { return texts_[key]; }
  std::uint64_t number(Key key, std::uint64_t otherwise) const {
    return has(key) ? numbers_[key] : otherwise;
  }
  const std::string& problem() const { return problem_; }

  bool null() override { return wrong("null"); }
  bool boolean(bool value) override { return wrong(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return wrong(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == 0 || is_text(key_)) return wrong(std::to_string(value));
    numbers_[key_] = value;
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override { return wrong(text); }
  bool string(string_t& value) override {
    if (depth_ == 0 || !is_text(key_)) return wrong("text");
    texts_[key_].swap(value);
    return true;
  }
  bool binary(binary_t&) override { return wrong("bytes"); }
  bool start_object(std::size_t) override {
    if (depth_ > 0) return wrong("an object");
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (kKeys[i] != name) continue;
      key_ = static_cast<Key>(i);
      if (has(key_)) return fail("expected each key once, got '" + name + "' twice");
      present_ |= bit(key_);
      return true;
    }
    const auto nearest = nearest_name(name, kKeys);
    return fail("expected known keys, got " + quoted_excerpt(name) +
                (nearest.empty() ? "" : " (did you mean '" + std::string(nearest) + "'?)"));
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return wrong("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t column, const std::string&, const Json::exception&) override {
    return fail("expected a JSON object, got something else at column " + std::to_string(column));
  }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool wrong(const std::string& got) {
    if (depth_ == 0) return fail("expected a JSON object, got " + got);
    return fail(std::string(kKeys[key_]) + ": expected " +
                (is_text(key_) ? "text" : "a whole number from 0 on") + ", got " + got);
  }

  unsigned present_ = 0;
  int depth_ = 0;
  Key key_{};
  std::array<std::string, kKeys.size()> texts_;
  std::array<std::uint64_t, kKeys.size()> numbers_{};
  std::string problem_;
};

class Reader {
 public:
  Reader(ByteSource& source, TraceSink& sink) : source_(source), sink_(sink) {}

  void run() {
    if (!next()) source_.fail_line("expected a header, got an empty file");
    header();
    while (next()) event();
    sink_.end();
  }

 private:
  bool next() {
    std::string_view text;
    do {
      if (!source_.line(text)) return false;
      if (source_.line_number() == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    } while (text.empty());
    line_.reset();
    if (!Json::sax_parse(text.begin(), text.end(), &line_)) source_.fail_line(line_.problem());
    return true;
  }

  void header() {
    if (!line_.has(key_version)) {
      source_.fail_line("header: expected the key 'arenagrad_trace', got none");
    }
    if (line_.number(key_version, 0) != 1) {
      source_.fail_line("header: expected arenagrad_trace 1, got " +
                        std::to_string(line_.number(key_version, 0)));
    }
    check_keys("header", {0, bit(key_version) | bit(key_name) | bit(key_alignment)});
    TraceHeader header;
    if (line_.has(key_name)) header.name = line_.text(key_name);
    header.alignment = line_.number(key_alignment, 1);
    check(TraceChecks::problem(header));
    sink_.begin(header);
  }

  void event() {
    if (!line_.has(key_op)) source_.fail_line("expected the key 'op', got none");
    TraceEvent event{.kind = kind()};
    Shape shape = shape_of(event.kind);
    shape.needs |= bit(key_op);
    check_keys(line_.text(key_op), shape);
    event.id = line_.number(key_id, 0);
    event.bytes = line_.number(key_bytes, 0);
    event.granted = line_.number(key_granted, 0);
    event.offset = line_.number(key_offset, kUnknownOffset);
    event.alignment = line_.number(key_alignment, 0);
    event.time = line_.number(key_time, kUnknownTime);
    event.category = category();
    if (line_.has(key_name)) event.name = line_.text(key_name);
    if (line_.has(key_layer)) event.name = line_.text(key_layer);
    if (line_.has(key_phase)) event.phase = line_.text(key_phase);
    event.step = static_cast<std::int64_t>(line_.number(key_step, 0));
    check(checks_.apply(event));
    sink_.event(event);
  }

  Kind kind() {
    for (auto kind = Kind::allocate; kind <= Kind::scope;
         kind = static_cast<Kind>(static_cast<int>(kind) + 1)) {
      if (name(kind) == line_.text(key_op)) return kind;
    }
    source_.fail_line(
        "op: expected allocate, free, refuse, reserve, release, commit, decommit, map, unmap or "
        "scope, got " +
        quoted_excerpt(line_.text(key_op)));
  }

  std::optional<Category> category() {
    if (!line_.has(key_category)) return std::nullopt;
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      if (kCategoryNames[i] == line_.text(key_category)) return static_cast<Category>(i);
    }
    const auto nearest = nearest_name(line_.text(key_category), kCategoryNames);
    source_.fail_line("category: expected one of our ten, got " +
                      quoted_excerpt(line_.text(key_category)) +
                      (nearest.empty() ? "" : " (did you mean '" + std::string(nearest) + "'?)"));
  }

  void check_keys(const std::string& what, const Shape& shape) {
    const unsigned missing = shape.needs & ~line_.present();
    const unsigned extra = line_.present() & ~(shape.needs | shape.may);
    if ((missing | extra) == 0) return;
    const auto key = static_cast<std::size_t>(std::countr_zero(missing != 0 ? missing : extra));
    const std::string shown = " key '" + std::string(kKeys[key]) + "', got ";
    source_.fail_line(what + (missing != 0 ? ": expected the" + shown + "none"
                                           : ": expected no" + shown + "one"));
  }

  void check(const std::string& problem) {
    if (!problem.empty()) source_.fail_line(problem);
  }

  ByteSource& source_;
  TraceSink& sink_;
  TraceChecks checks_;
  Line line_;
};

}  // namespace

void read_jsonl(ByteSource& source, TraceSink& sink, const ReadTraceOptions&) {
  Reader(source, sink).run();
}

}  // namespace arenagrad
