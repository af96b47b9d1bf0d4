// Chrome's JSON, which ui.perfetto.dev opens: steps, phases and layers as slices inside one another
// on one track, and a counter for each category, written when it changes.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "allocator/traces/formats.h"
#include "allocator/traces/json_text.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

class Writer final : public TraceSink {
 public:
  explicit Writer(WriteBytes write) : out_(std::move(write)) {}

  void begin(const TraceHeader& header) override {
    out_ << R"({"traceEvents":[)";
    meta("process_name", header.name.empty() ? "trace" : header.name);
    meta("thread_name", "program");
  }

  void event(const TraceEvent& event) override {
    time_ = event.time != kUnknownTime ? std::max(time_, event.time) : time_ + 1;
    switch (event.kind) {
      case Kind::scope:
        return enter({event.step == 0 ? "" : "step " + std::to_string(event.step),
                      std::string(event.phase), std::string(event.name)});
      case Kind::allocate:
        live_[event.id] = {event.bytes, event.category};
        return change(event.category, event.bytes, true);
      case Kind::free: {
        const auto found = live_.find(event.id);
        check_contract(found != live_.end(), "a trace frees what is not live");
        change(found->second.category, found->second.bytes, false);
        live_.erase(found);
        return;
      }
      case Kind::refuse:
        start("i", "out of memory");
        out_ << R"(,"s":"p","args":{"requested":)" << std::uint64_t{event.bytes}
             << ",\"buffer\":" << json_text(event.name) << "}}";
        return;
      case Kind::commit: return count("reserved", reserved_ += event.bytes);
      case Kind::decommit: return count("reserved", reserved_ -= std::min(reserved_, event.bytes));
      default: return;
    }
  }

  void end() override {
    ++time_;  // so that the last slice has a length
    enter({});
    out_ << "\n]}\n";
    out_.flush();
  }

 private:
  struct Life {
    std::size_t bytes;
    std::optional<Category> category;
  };
  using Slices = std::array<std::string, 3>;  // step, phase, layer; each inside the one before

  void start(std::string_view kind, std::string_view name) {
    out_ << (first_ ? "\n" : ",\n") << R"({"ph":")" << kind << R"(","pid":1,"tid":1,"ts":)"
         << time_;
    first_ = false;
    if (!name.empty()) out_ << R"(,"name":)" << json_text(name);
  }

  void meta(std::string_view what, std::string_view name) {
    start("M", what);
    out_ << R"(,"args":{"name":)" << json_text(name) << "}}";
  }

  /// Slices close from the inside out, as far as the new ones differ.
  void enter(const Slices& slices) {
    std::size_t same = 0;
    while (same < slices.size() && slices[same] == open_[same]) ++same;
    for (std::size_t i = open_.size(); i-- > same;) {
      if (open_[i].empty()) continue;
      start("E", "");
      out_ << '}';
    }
    for (std::size_t i = same; i < slices.size(); ++i) {
      if (slices[i].empty()) continue;
      start("B", slices[i]);
      out_ << '}';
    }
    open_ = slices;
  }

  void change(const std::optional<Category>& category, std::size_t bytes, bool born) {
    std::size_t& sum = sums_[category ? static_cast<std::size_t>(*category) : kCategoryCount];
    sum = born ? sum + bytes : sum - bytes;
    count(category ? name(*category) : "unknown", sum);
  }

  void count(std::string_view name, std::size_t bytes) {
    start("C", name);
    out_ << R"(,"args":{"bytes":)" << std::uint64_t{bytes} << "}}";
  }

  ByteSink out_;
  bool first_ = true;
  std::uint64_t time_ = 0;
  Slices open_;
  std::array<std::size_t, kCategoryCount + 1> sums_{};
  std::size_t reserved_ = 0;
  std::unordered_map<std::uint64_t, Life> live_;
};

}  // namespace

std::unique_ptr<TraceSink> make_perfetto_writer(WriteBytes write) {
  return std::make_unique<Writer>(std::move(write));
}

}  // namespace arenagrad
