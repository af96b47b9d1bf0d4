#include <charconv>
#include <cstdio>
#include <unordered_map>

#include "allocator/traces/formats.h"
#include "allocator/traces/placing.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

class Writer final : public TraceSink {
 public:
  explicit Writer(WriteBytes write) : out_(std::move(write)) {}

  void begin(const TraceHeader&) override { out_ << "Thread,Time,Action,Pointer,Size,Stream\n"; }

  void event(const TraceEvent& event) override {
    const std::uint64_t time = event.time != kUnknownTime ? event.time : ordinal_;
    ++ordinal_;
    switch (event.kind) {
      case Kind::allocate: {
        // Addresses of a process stay what they are; offsets become some, for none is null.
        if (!base_) base_ = event.offset < kTraceBaseAddress ? kTraceBaseAddress : 0;
        const std::size_t address = *base_ + event.offset;
        if (address == 0) throw TraceError("an RMM log: expected addresses, got 0");
        live_[event.id] = {address, event.bytes};
        return row(time, "allocate", address, event.bytes);
      }
      case Kind::free: {
        const auto found = live_.find(event.id);
        check_contract(found != live_.end(), "a trace frees what is not live");
        row(time, "free", found->second.address, found->second.bytes);
        live_.erase(found);
        return;
      }
      case Kind::refuse: return row(time, "allocate failure", 0, event.bytes);
      default: return;
    }
  }

  void end() override { out_.flush(); }

 private:
  struct Life {
    std::size_t address, bytes;
  };

  /// The trace's time is taken for microseconds, and shown as the time of a day.
  void row(std::uint64_t time, std::string_view action, std::size_t address, std::size_t bytes) {
    char clock[32];
    const auto seconds = static_cast<unsigned>(time / 1000000 % 86400);
    std::snprintf(clock, sizeof clock, "%02u:%02u:%02u.%06u", seconds / 3600, seconds / 60 % 60,
                  seconds % 60, static_cast<unsigned>(time % 1000000));
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
    out_ << "0," << clock << ',' << action << ',';
    if (address == 0) {
      out_ << "(nil)";
    } else {
      out_ << "0x" << std::string_view(digits, static_cast<std::size_t>(end - digits));
    }
    out_ << ',' << bytes << ",0\n";
  }

  ByteSink out_;
  std::unordered_map<std::uint64_t, Life> live_;
  std::uint64_t ordinal_ = 0;
  std::optional<std::size_t> base_;
};

}  // namespace

std::unique_ptr<TraceSink> make_rmm_writer(WriteBytes write) {
  return make_placing(std::make_unique<Writer>(std::move(write)));
}

}  // namespace arenagrad
