// A memory snapshot as PyTorch's viewer wants it; docs/traces.md names its rules. The events are
// written as they come, what is live and the segments at the end.
#include <algorithm>
#include <map>
#include <vector>

#include "allocator/traces/formats.h"
#include "allocator/traces/pickle_writer.h"
#include "allocator/traces/placing.h"
#include "allocator/traces/segments.h"
#include "allocator/traces/utf8.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

/// The viewer computes with doubles.
constexpr std::size_t kHighestAddress = std::size_t{1} << 53;
constexpr std::size_t kMostAnnotations = std::size_t{1} << 22;
/// The viewer fails when categories are given but this one is not among them.
constexpr std::string_view kUnknownCategory = "unknown";

std::string_view category_name(const std::optional<Category>& category) {
  return category ? name(*category) : kUnknownCategory;
}

class Writer final : public TraceSink {
 public:
  explicit Writer(WriteBytes write) : out_(std::move(write)) {}

  void begin(const TraceHeader& header) override {
    out_.begin_dict();
    out_.text("arenagrad_trace");  // for whoever reads it back; viewers pass over it
    out_.begin_dict();
    integer("version", 1);
    text("name", header.name);
    integer("alignment", header.alignment);
    out_.end_dict();
    out_.text("device_traces");
    out_.begin_list();
    events_ = out_.begin_list();
  }

  void event(const TraceEvent& event) override {
    timed_ = timed_ || event.time != kUnknownTime;
    time_ = event.time != kUnknownTime ? std::max(time_, event.time) : time_ + 1;
    switch (event.kind) {
      case Kind::scope: return enter(event);
      case Kind::allocate: return allocate(event);
      case Kind::free: return free(event);
      case Kind::refuse:
        begin_event("oom", event.bytes, category_name(event.category));
        integer("device_free", 0);
        tensor_frames(event.name, event.id);
        return out_.end_dict();
      default: return driver_call(event);
    }
  }

  void end() override {
    enter({.kind = Kind::scope});
    begin_event("snapshot", 0, kUnknownCategory);
    integer("addr", 0);
    scope_frames();
    out_.end_dict();
    out_.end_list();
    out_.end_list();
    annotations();
    segments();
    settings();
    out_.text("arenagrad_timed");
    out_.boolean(timed_);
    out_.end_dict();
    out_.finish();
  }

 private:
  struct Life {
    std::size_t offset, requested, granted;
    std::string_view category;
    std::string name;
    TraceScope scope;
  };
  struct Annotation {
    std::uint64_t time;
    std::string name;
    bool start;
  };

  // --- events ------------------------------------------------------------------------------------

  void allocate(const TraceEvent& event) {
    const Life life{event.offset,
                    event.bytes,
                    std::max(event.bytes, event.granted),
                    category_name(event.category),
                    std::string(event.name),
                    scope_};
    const std::size_t end = life.offset + life.granted;
    if (!decided_) {
      decided_ = true;
      driver_known_ = !segments_.empty();
    }
    if (driver_known_ && !segments_.hold(life.offset, end)) {
      fail_outside(event.id, life);
    }
    lowest_ = std::min(lowest_, life.offset);
    highest_ = std::max(highest_, end);
    begin_event("alloc", event.bytes, life.category);
    integer("addr", address(life.offset));
    if (event.granted != 0) integer("granted", event.granted);
    tensor_frames(event.name, event.id);
    out_.end_dict();
    live_.insert_or_assign(event.id, life);
  }

  void free(const TraceEvent& event) {
    const auto found = live_.find(event.id);
    check_contract(found != live_.end(), "a trace frees what is not live");
    for (const char* action : {"free_requested", "free_completed"}) {
      begin_event(action, found->second.requested, found->second.category);
      integer("addr", address(found->second.offset));
      scope_frames();
      out_.end_dict();
    }
    live_.erase(found);
  }

  void driver_call(const TraceEvent& event) {
    if (decided_ && !driver_known_) return;
    const auto action = segments_.apply(event);
    if (!action) return;
    begin_event(*action, event.bytes, kUnknownCategory);
    integer("addr", address(event.offset));
    scope_frames();
    out_.end_dict();
  }

  void begin_event(std::string_view action, std::size_t bytes, std::string_view category) {
    out_.item(events_);
    out_.begin_dict();
    text("action", action);
    integer("size", bytes);
    integer("stream", 0);
    integer("time_us", time_);
    text("category", category);
    text("compile_context", "N/A");
    text("user_metadata", "");
  }

  // --- frames ------------------------------------------------------------------------------------

  void frame(std::string_view name, std::string_view filename, std::uint64_t line) {
    out_.begin_dict();
    text("name", name);
    text("filename", filename);
    integer("line", line);
    out_.end_dict();
  }

  /// The scope's frame: written once while it lasts.
  void scope_frame(const TraceScope& scope) {
    frame(scope.layer, scope.phase, static_cast<std::uint64_t>(scope.step));
  }
  void scope_frames() {
    out_.text("frames");
    if (frames_memo_) return out_.recall(*frames_memo_);
    auto list = out_.begin_list();
    out_.item(list);
    scope_frame(scope_);
    out_.end_list();
    frames_memo_ = out_.memoize();
  }
  void tensor_frames(std::string_view name, std::uint64_t id) {
    out_.text("frames");
    frames_of(name, id, scope_);
  }
  void frames_of(std::string_view name, std::uint64_t id, const TraceScope& scope) {
    auto list = out_.begin_list();
    out_.item(list);
    frame(name, "tensor", std::min<std::uint64_t>(id, INT64_MAX));
    out_.item(list);
    scope_frame(scope);
    out_.end_list();
  }

  // --- annotations -------------------------------------------------------------------------------

  void enter(const TraceEvent& event) {
    const bool other_step = event.step != scope_.step;
    const bool other_phase = other_step || event.phase != scope_.phase;
    if (other_phase && !scope_.phase.empty()) annotate(scope_.phase, false);
    if (other_step && scope_.step != 0) annotate("step " + std::to_string(scope_.step), false);
    if (other_step && event.step != 0) annotate("step " + std::to_string(event.step), true);
    if (other_phase && !event.phase.empty()) annotate(std::string(event.phase), true);
    scope_ = {std::string(event.name), std::string(event.phase), event.step};
    frames_memo_.reset();
  }

  void annotate(std::string name, bool start) {
    if (annotations_.size() == kMostAnnotations) {
      throw TraceError("a PyTorch snapshot: expected at most " + std::to_string(kMostAnnotations) +
                       " begins and ends of phases, got more");
    }
    annotations_.push_back({time_, std::move(name), start});
  }

  void annotations() {
    out_.text("external_annotations");
    auto list = out_.begin_list();
    for (const Annotation& annotation : annotations_) {
      out_.item(list);
      out_.begin_dict();
      integer("device", 0);
      integer("time_us", annotation.time);
      text("name", annotation.name);
      text("stage", annotation.start ? "START" : "END");
      out_.end_dict();
    }
    out_.end_list();
  }

  // --- the state at the end ----------------------------------------------------------------------

  void segments() {
    std::vector<Segments::Segment> all = segments_.list();
    if (!driver_known_ && highest_ > 0) all = {{lowest_, highest_, false}};
    std::map<std::size_t, std::pair<std::uint64_t, const Life*>> by_offset;
    for (const auto& [id, life] : live_) by_offset[life.offset] = {id, &life};

    out_.text("segments");
    auto list = out_.begin_list();
    auto block = by_offset.begin();
    for (const auto& segment : all) {
      out_.item(list);
      out_.begin_dict();
      std::size_t requested = 0, granted = 0;
      out_.text("blocks");
      auto blocks = out_.begin_list();
      std::size_t at = segment.begin;
      for (; block != by_offset.end() && block->first < segment.end; ++block) {
        const auto& [id, life] = block->second;
        if (life->offset < at || life->offset + life->granted > segment.end)
          fail_outside(id, *life);
        if (life->offset > at) gap(blocks, at, life->offset);
        live_block(blocks, id, *life);
        requested += life->requested;
        granted += life->granted;
        at = life->offset + life->granted;
      }
      if (at < segment.end) gap(blocks, at, segment.end);
      out_.end_list();
      segment_keys(segment, requested, granted);
      out_.end_dict();
    }
    out_.end_list();
    if (block != by_offset.end()) fail_outside(block->second.first, *block->second.second);
  }

  [[noreturn]] static void fail_outside(std::uint64_t id, const Life& life) {
    throw TraceError(
        "buffer " + std::to_string(id) + ": expected memory that a commit provided, got " +
        std::to_string(life.offset) + " to " + std::to_string(life.offset + life.granted));
  }

  void segment_keys(const Segments::Segment& segment, std::size_t requested, std::size_t granted) {
    const std::size_t bytes = segment.end - segment.begin;
    integer("device", 0);
    integer("address", address(segment.begin));
    integer("total_size", bytes);
    integer("allocated_size", granted);
    integer("active_size", granted);
    integer("requested_size", requested);
    integer("stream", 0);
    text("segment_type", bytes > (std::size_t{2} << 20) ? "large" : "small");
    out_.text("segment_pool_id");
    out_.integer(0);
    out_.integer(0);
    out_.make_pair();
    out_.text("is_expandable");
    out_.boolean(segment.grows);
    out_.text("frames");
    auto frames = out_.begin_list();
    out_.item(frames);
    frame("segment", "driver", 0);
    out_.end_list();
  }

  void live_block(PickleWriter::List& list, std::uint64_t id, const Life& life) {
    begin_block(list, life.offset, life.granted, life.requested, "active_allocated");
    out_.text("frames");
    frames_of(life.name, id, life.scope);
    out_.end_dict();
  }
  void gap(PickleWriter::List& list, std::size_t begin, std::size_t end) {
    begin_block(list, begin, end - begin, 0, "inactive");
    out_.text("frames");
    out_.begin_list();
    out_.end_list();
    out_.end_dict();
  }
  void begin_block(PickleWriter::List& list, std::size_t offset, std::size_t bytes,
                   std::size_t requested, std::string_view state) {
    out_.item(list);
    out_.begin_dict();
    integer("address", address(offset));
    integer("size", bytes);
    integer("requested_size", requested);
    text("state", state);
  }

  void settings() {
    out_.text("allocator_settings");
    out_.begin_dict();
    text("PYTORCH_CUDA_ALLOC_CONF", "");
    out_.text("max_split_size");
    out_.minus_one();
    out_.text("garbage_collection_threshold");
    out_.real(0);
    out_.text("expandable_segments");
    out_.boolean(false);
    integer("pinned_num_register_threads", 1);
    out_.text("release_lock_on_cudamalloc");
    out_.boolean(false);
    out_.text("pinned_use_cuda_host_register");
    out_.boolean(false);
    out_.text("roundup_power2_divisions");
    out_.begin_dict();
    for (int interval = 1; interval <= 65536; interval *= 2) {
      integer(std::to_string(interval), 0);
    }
    out_.end_dict();
    out_.end_dict();
  }

  // --- values ------------------------------------------------------------------------------------

  void integer(std::string_view key, std::uint64_t value) {
    out_.text(key);
    out_.integer(std::min<std::uint64_t>(value, INT64_MAX));
  }
  void text(std::string_view key, std::string_view value) {
    out_.text(key);
    out_.text(valid_utf8(value));
  }

  std::size_t address(std::size_t offset) const {
    const std::size_t result = kTraceBaseAddress + offset;
    if (result >= kHighestAddress) {
      throw TraceError("a PyTorch snapshot: expected offsets below " +
                       std::to_string(kHighestAddress - kTraceBaseAddress) + ", got " +
                       std::to_string(offset));
    }
    return result;
  }

  PickleWriter out_;
  PickleWriter::List events_;
  std::uint64_t time_ = 0;
  TraceScope scope_;
  std::optional<std::uint32_t> frames_memo_;
  std::vector<Annotation> annotations_;
  std::map<std::uint64_t, Life> live_;
  Segments segments_;
  bool timed_ = false, decided_ = false, driver_known_ = false;
  std::size_t lowest_ = kUnknownOffset, highest_ = 0;
};

}  // namespace

std::unique_ptr<TraceSink> make_pytorch_writer(WriteBytes write) {
  return make_placing(std::make_unique<Writer>(std::move(write)));
}

}  // namespace arenagrad
