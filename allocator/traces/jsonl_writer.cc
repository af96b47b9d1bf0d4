#include "allocator/traces/formats.h"
#include "allocator/traces/json_text.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

class Writer final : public TraceSink {
 public:
  explicit Writer(WriteBytes write) : out_(std::move(write)) {}

  void begin(const TraceHeader& header) override {
    out_ << R"({"arenagrad_trace":1)";
    text("name", header.name);
    if (header.alignment != 1) number("alignment", header.alignment);
    out_ << "}\n";
  }

  void event(const TraceEvent& event) override {
    out_ << R"({"op":")" << name(event.kind) << '"';
    switch (event.kind) {
      case Kind::allocate:
      case Kind::refuse:
        number("id", event.id);
        number("bytes", event.bytes);
        if (event.kind == Kind::allocate) {
          if (event.granted != 0) number("granted", event.granted);
          if (event.offset != kUnknownOffset) number("offset", event.offset);
        }
        if (event.alignment != 0) number("alignment", event.alignment);
        if (event.category) text("category", name(*event.category));
        text("name", event.name);
        break;
      case Kind::free: number("id", event.id); break;
      case Kind::scope:
        if (event.step != 0) number("step", static_cast<std::uint64_t>(event.step));
        text("phase", event.phase);
        text("layer", event.name);
        break;
      default:
        number("offset", event.offset);
        number("bytes", event.bytes);
        break;
    }
    if (event.time != kUnknownTime) number("time", event.time);
    out_ << "}\n";
  }

  void end() override { out_.flush(); }

 private:
  void number(std::string_view key, std::uint64_t value) { out_ << ",\"" << key << "\":" << value; }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) out_ << ",\"" << key << "\":" << json_text(value);
  }

  ByteSink out_;
};

}  // namespace

std::unique_ptr<TraceSink> make_jsonl_writer(WriteBytes write) {
  return std::make_unique<Writer>(std::move(write));
}

}  // namespace arenagrad
