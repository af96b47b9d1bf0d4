// From a snapshot to events. A recording is a ring: it may begin in the middle, so that frees come
// without their allocations, and so do blocks and segments that are there at the end.
#include <algorithm>
#include <unordered_map>

#include "allocator/traces/checks.h"
#include "allocator/traces/formats.h"
#include "allocator/traces/interval_set.h"
#include "allocator/traces/snapshot.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;
using Action = SnapshotEvent::Action;

class Reader {
 public:
  Reader(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options)
      : tree_(source), snapshot_(read_snapshot(tree_, options.device)), sink_(sink) {}

  void run() {
    TraceHeader header{std::string(snapshot_.name), snapshot_.alignment};
    if (const auto problem = TraceChecks::problem(header); !problem.empty()) {
      tree_.fail(problem, tree_.root());
    }
    sink_.begin(header);
    find_base();
    driver_calls_ = saw_all_segments();
    before_recording();
    for (const SnapshotEvent& event : snapshot_.events) pass(event);
    sink_.end();
  }

 private:
  /// Offsets count from the lowest address.
  void find_base() {
    base_ = kUnknownOffset;
    for (const auto& event : snapshot_.events) {
      if (event.action != Action::oom) base_ = std::min(base_, event.address);
    }
    for (const auto& segment : snapshot_.segments) base_ = std::min(base_, segment.address);
    if (base_ == kUnknownOffset) base_ = 0;
  }

  /// Whether the recording began before the first segment: only then do its driver calls add up.
  bool saw_all_segments() const {
    IntervalSet mapped, at_end;
    for (const auto& event : snapshot_.events) {
      const std::size_t end = event.address + event.bytes;
      if (event.bytes == 0) continue;
      switch (event.action) {
        case Action::segment_alloc:
        case Action::segment_map:
          if (!mapped.add(event.address, end)) return false;
          break;
        case Action::segment_free:
        case Action::segment_unmap:
          if (!mapped.remove(event.address, end)) return false;
          break;
        case Action::alloc:
          if (!mapped.covers(event.address, end)) return false;
          break;
        default: break;
      }
    }
    for (const auto& segment : snapshot_.segments) {
      if (segment.bytes > 0 && !at_end.add(segment.address, segment.address + segment.bytes)) {
        return false;
      }
    }
    return mapped == at_end;
  }

  /// What was live when the recording began: freed without an allocation, or there at the end.
  void before_recording() {
    std::unordered_map<std::size_t, bool> live;  // by address, once it is known
    for (const auto& event : snapshot_.events) {
      if (event.action == Action::alloc) {
        live[event.address] = true;
      } else if (event.action == Action::free_completed) {
        if (!live.contains(event.address)) {
          allocate({.address = event.address, .bytes = event.bytes, .place = event.place});
        }
        live[event.address] = false;
      }
    }
    for (const auto& segment : snapshot_.segments) {
      for (const auto& block : segment.blocks) {
        const auto found = live.find(block.address);
        if (!block.active || (found != live.end() && found->second)) continue;
        allocate({.address = block.address,
                  .bytes = block.requested,
                  .granted = block.bytes,
                  .place = block.place});
      }
    }
  }

  void pass(const SnapshotEvent& event) {
    time_ = std::max(time_, event.time);
    enter(event);
    switch (event.action) {
      case Action::alloc: return allocate(event);
      case Action::free_completed: {
        const auto found = ids_.find(event.address);
        if (found == ids_.end()) {
          tree_.fail("free: expected an address that is allocated, got one that was freed already",
                     event.place);
        }
        emit({.kind = Kind::free, .id = found->second}, event.place);
        ids_.erase(found);
        return;
      }
      case Action::oom:
        return emit({.kind = Kind::refuse,
                     .category = category(event),
                     .id = own_id(event, 0),
                     .bytes = event.bytes,
                     .name = own_name(event)},
                    event.place);
      case Action::segment_alloc:
        driver_call(Kind::reserve, event);
        return driver_call(Kind::commit, event);
      case Action::segment_free:
        driver_call(Kind::decommit, event);
        return driver_call(Kind::release, event);
      case Action::segment_map: return driver_call(Kind::commit, event);
      case Action::segment_unmap: return driver_call(Kind::decommit, event);
      case Action::free_requested:
      case Action::other: return;
    }
  }

  void allocate(const SnapshotEvent& event) {
    const std::uint64_t id = own_id(event, next_id_++);
    emit({.kind = Kind::allocate,
          .category = category(event),
          .id = id,
          .bytes = event.bytes,
          .granted = event.granted,
          .offset = event.address - base_,
          .name = own_name(event)},
         event.place);
    ids_[event.address] = id;
  }

  void driver_call(Kind kind, const SnapshotEvent& event) {
    if (!driver_calls_) return;
    emit({.kind = kind, .bytes = event.bytes, .offset = event.address - base_}, event.place);
  }

  void emit(TraceEvent event, PickleValue place) {
    if (snapshot_.timed) event.time = time_;
    if (const auto problem = checks_.apply(event); !problem.empty()) tree_.fail(problem, place);
    sink_.event(event);
  }

  // --- names and scopes --------------------------------------------------------------------------

  std::optional<Category> category(const SnapshotEvent& event) const {
    const auto found = std::find(kCategoryNames.begin(), kCategoryNames.end(), event.category);
    if (found == kCategoryNames.end()) return std::nullopt;
    return static_cast<Category>(found - kCategoryNames.begin());
  }

  struct Frame {
    std::string_view name, filename;
    std::int64_t line = 0;
  };
  Frame frame(PickleValue value) const {
    Frame frame;
    if (value.kind != PickleValue::Kind::dict) return frame;
    const auto text = [&](const char* key) -> std::string_view {
      const auto found = tree_.find(value, key);
      return found && found->kind == PickleValue::Kind::text ? *found->text : std::string_view{};
    };
    frame.name = text("name");
    frame.filename = text("filename");
    const auto line = tree_.find(value, "line");
    if (line && line->kind == PickleValue::Kind::integer) frame.line = line->integer;
    return frame;
  }
  const std::vector<PickleValue>* frames_of(const SnapshotEvent& event) const {
    if (event.frames.kind != PickleValue::Kind::list) return nullptr;
    const auto& frames = tree_.items(event.frames);
    return frames.empty() ? nullptr : &frames;
  }

  /// A snapshot of ours has the tensor and its number in a frame above the scope's.
  std::optional<Frame> tensor_frame(const SnapshotEvent& event) const {
    const auto* frames = snapshot_.ours ? frames_of(event) : nullptr;
    if (frames == nullptr || frames->size() < 2) return std::nullopt;
    return frame(frames->front());
  }
  std::uint64_t own_id(const SnapshotEvent& event, std::uint64_t otherwise) const {
    const auto tensor = tensor_frame(event);
    return tensor && tensor->line >= 0 ? static_cast<std::uint64_t>(tensor->line) : otherwise;
  }
  std::string_view own_name(const SnapshotEvent& event) const {
    const auto tensor = tensor_frame(event);
    return tensor ? tensor->name : std::string_view{};
  }

  /// The scope of an event. Ours: the last frame. Otherwise the layer is the innermost function
  /// of Python, the phase the innermost annotation that is open.
  void enter(const SnapshotEvent& event) {
    TraceEvent scope{.kind = Kind::scope};
    const auto* frames = frames_of(event);
    if (snapshot_.ours) {
      if (frames == nullptr) return;
      const Frame own = frame(frames->back());
      scope.name = own.name;
      scope.phase = own.filename;
      scope.step = std::max<std::int64_t>(own.line, 0);
    } else {
      annotate_until(event.time);
      if (!open_.empty()) scope.phase = open_.back();
      if (frames != nullptr) scope.name = python_function(event.frames);
    }
    if (scope == scope_) return;
    scope_ = scope;
    emit(scope, event.place);
  }

  void annotate_until(std::uint64_t time) {
    for (; annotation_ < snapshot_.annotations.size() &&
           snapshot_.annotations[annotation_].time <= time;
         ++annotation_) {
      const auto& annotation = snapshot_.annotations[annotation_];
      if (annotation.start) {
        if (open_.size() == kMostOpen) {
          tree_.fail("annotations: expected at most " + std::to_string(kMostOpen) +
                         " open at once, got more",
                     tree_.root());
        }
        open_.push_back(annotation.name);
        continue;
      }
      const auto found = std::find(open_.rbegin(), open_.rend(), annotation.name);
      if (found != open_.rend()) open_.erase(std::next(found).base());
    }
  }

  /// Events share their frames, of which there may be many.
  std::string_view python_function(PickleValue list) {
    const auto [entry, is_new] = functions_.try_emplace(list.container);
    if (!is_new) return entry->second;
    const auto& frames = tree_.items(list);
    entry->second = frame(frames.front()).name;
    for (const PickleValue& item : frames) {
      const Frame candidate = frame(item);
      if (!candidate.filename.ends_with(".py")) continue;
      entry->second = candidate.name;
      break;
    }
    return entry->second;
  }

  static constexpr std::size_t kMostOpen = 1024;

  PickleTree tree_;
  Snapshot snapshot_;
  TraceSink& sink_;
  TraceChecks checks_;
  std::size_t base_ = 0;
  bool driver_calls_ = false;
  std::uint64_t time_ = 0, next_id_ = 0;
  std::unordered_map<std::size_t, std::uint64_t> ids_;  // of live buffers, by address
  TraceEvent scope_{.kind = Kind::scope};
  std::size_t annotation_ = 0;
  std::vector<std::string_view> open_;  // annotations
  std::unordered_map<std::size_t, std::string_view> functions_;
};

}  // namespace

void read_pytorch(ByteSource& source, TraceSink& sink, const ReadTraceOptions& options) {
  Reader(source, sink, options).run();
}

}  // namespace arenagrad
