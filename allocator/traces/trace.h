// A record of what was allocated and freed, from this program or another one: the model that every
// file format is read into and written from. Readers push events into a sink one by one and writers
// are sinks, so that a file of any length passes through without being kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "allocator/category.h"
#include "allocator/error.h"

namespace arenagrad {

/// A trace that cannot be read or written. what() says where: the line or the byte, and the file.
class TraceError : public Error {
 public:
  using Error::Error;
};

struct TraceHeader {
  std::string name;           // of what was recorded; may be empty
  std::size_t alignment = 1;  // of all buffers that say nothing else; a power of two
};

inline constexpr std::size_t kUnknownOffset = ~std::size_t{0};
inline constexpr std::uint64_t kUnknownTime = ~std::uint64_t{0};

/// Events happen in the order they come in. `id` names a buffer while it is live and may be given
/// to another one later. Frees carry the id alone; whoever needs more remembers it.
struct TraceEvent {
  enum class Kind : std::uint8_t {
    allocate,
    free,
    refuse,   // an allocation for which there was no place
    reserve,  // driver calls: address space ...
    release,
    commit,  // ... memory behind it ...
    decommit,
    map,  // ... and memory seen from elsewhere, which takes none; see allocator/driver.h
    unmap,
    scope,  // from here on: what is at work
  };
  Kind kind{};
  std::optional<Category> category{};  // allocate, refuse
  std::uint64_t id = 0;                // allocate, free, refuse
  std::size_t bytes = 0;               // requested; of a driver call its size
  std::size_t granted = 0;             // after rounding; 0: not known
  std::size_t offset = kUnknownOffset;
  std::size_t alignment = 0;          // 0: the trace's
  std::uint64_t time = kUnknownTime;  // in any unit, never falling
  std::string_view name{};            // of the buffer; of a scope the layer
  std::string_view phase{};           // of a scope
  std::int64_t step = 0;              // of a scope: 1-based, 0 outside of steps
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

std::string_view name(TraceEvent::Kind kind);

/// What is at work, as a scope event says. Scopes that are equal are one.
struct TraceScope {
  std::string layer, phase;
  std::int64_t step = 0;
  friend bool operator==(const TraceScope&, const TraceScope&) = default;
};

/// Text in events is the caller's and read during the call only.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void begin(const TraceHeader& header) = 0;
  virtual void event(const TraceEvent& event) = 0;
  virtual void end() = 0;
};

/// A trace in memory, about 100 bytes an event.
class TraceLog final : public TraceSink {
 public:
  /// TraceError for more events than that.
  explicit TraceLog(std::size_t most_events = std::size_t{1} << 24) : most_events_(most_events) {}
  TraceLog(TraceLog&&) = default;
  TraceLog& operator=(TraceLog&&) = default;

  void begin(const TraceHeader& header) override { header_ = header; }
  void event(const TraceEvent& event) override;
  void end() override {}

  const TraceHeader& header() const { return header_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  void replay(TraceSink& sink) const;

 private:
  std::string_view kept(std::string_view text);

  std::size_t most_events_;
  TraceHeader header_;
  std::vector<TraceEvent> events_;
  std::unordered_set<std::string> texts_;  // what events refer to
};

/// Hands everything on to two sinks.
class TraceTee final : public TraceSink {
 public:
  TraceTee(TraceSink& first, TraceSink& second) : first_(first), second_(second) {}
  void begin(const TraceHeader& header) override {
    first_.begin(header);
    second_.begin(header);
  }
  void event(const TraceEvent& event) override {
    first_.event(event);
    second_.event(event);
  }
  void end() override {
    first_.end();
    second_.end();
  }

 private:
  TraceSink& first_;
  TraceSink& second_;
};

}  // namespace arenagrad
