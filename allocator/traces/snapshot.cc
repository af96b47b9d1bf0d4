#include "allocator/traces/snapshot.h"

#include <algorithm>
#include <array>

#include "allocator/traces/checks.h"

namespace arenagrad {
namespace {

using Kind = PickleValue::Kind;
using Action = SnapshotEvent::Action;

constexpr std::array<std::pair<std::string_view, Action>, 12> kActions = {{
    {"alloc", Action::alloc},
    {"free_requested", Action::free_requested},
    {"free_completed", Action::free_completed},
    {"free", Action::free_completed},
    {"segment_alloc", Action::segment_alloc},
    {"segment_free", Action::segment_free},
    {"segment_map", Action::segment_map},
    {"segment_unmap", Action::segment_unmap},
    {"oom", Action::oom},
    {"snapshot", Action::other},
    {"user_defined", Action::other},
    {"workspace_snapshot", Action::other},
}};

class SnapshotReader {
 public:
  SnapshotReader(const PickleTree& tree, std::optional<int> device)
      : tree_(tree), device_(device) {}

  Snapshot run() {
    const PickleValue root = tree_.root();
    if (root.kind != Kind::dict)
      throw TraceError("a snapshot: expected a dict, got something else");
    if (const auto mark = tree_.find(root, "arenagrad_trace"); mark && mark->kind == Kind::dict) {
      result_.ours = true;
      result_.name = text(*mark, "name");
      result_.alignment = number(*mark, "alignment", 1);
      result_.timed = tree_.find(root, "arenagrad_timed").value_or(PickleValue{}).integer != 0;
    }
    const std::size_t device = choose_device(root);
    for (const PickleValue& item : tree_.items(traces_[device])) event(item, traces_[device]);
    if (const auto segments = tree_.find(root, "segments")) {
      for (const PickleValue& item : list(*segments, root, "segments")) {
        segment(item, *segments, device);
      }
    }
    if (const auto all = tree_.find(root, "external_annotations")) {
      for (const PickleValue& item : list(*all, root, "external_annotations")) {
        annotation(item, *all, device);
      }
      std::stable_sort(result_.annotations.begin(), result_.annotations.end(),
                       [](const auto& a, const auto& b) { return a.time < b.time; });
    }
    return std::move(result_);
  }

 private:
  std::size_t choose_device(PickleValue root) {
    const auto all = tree_.find(root, "device_traces");
    if (!all) tree_.fail("a snapshot: expected the key 'device_traces', got none", root);
    std::vector<std::size_t> with_events;
    for (const PickleValue& trace : list(*all, root, "device_traces")) {
      if (!list(trace, root, "a device's trace").empty()) with_events.push_back(traces_.size());
      traces_.push_back(trace);
    }
    if (device_) {
      if (*device_ >= 0 && static_cast<std::size_t>(*device_) < traces_.size()) {
        return static_cast<std::size_t>(*device_);
      }
      tree_.fail("device: expected one from 0 to " + std::to_string(traces_.size()) +
                     " (exclusive), got " + std::to_string(*device_),
                 root);
    }
    if (with_events.size() > 1) {
      std::string text = "a snapshot: expected events of one device, got those of";
      for (const std::size_t device : with_events) text += " " + std::to_string(device);
      tree_.fail(text + " (choose one with --device)", root);
    }
    if (with_events.empty()) {
      tree_.fail("a snapshot: expected a recorded history, got a trace without events", root);
    }
    return with_events.front();
  }

  void event(const PickleValue& item, PickleValue inside) {
    open(item, inside, "an event");
    SnapshotEvent event;
    event.place = item;
    const auto action = text(item, "action");
    const auto found = std::find_if(kActions.begin(), kActions.end(),
                                    [&](const auto& known) { return known.first == action; });
    if (found == kActions.end()) {
      tree_.fail("action: expected one of a snapshot's, got " + quoted_excerpt(action), item);
    }
    event.action = found->second;
    if (event.action == Action::other) return;
    event.bytes = number(item, "size");
    if (event.action != Action::oom) event.address = number(item, "addr");
    event.granted = number(item, "granted", 0);
    event.time = number(item, "time_us", 0);
    event.category = text(item, "category");
    if (const auto frames = tree_.find(item, "frames")) event.frames = *frames;
    result_.events.push_back(event);
  }

  void segment(const PickleValue& item, PickleValue inside, std::size_t device) {
    open(item, inside, "a segment");
    if (number(item, "device", 0) != device) return;
    SnapshotSegment segment{number(item, "address"), number(item, "total_size"), {}};
    const auto blocks = tree_.find(item, "blocks");
    if (!blocks) tree_.fail("a segment: expected the key 'blocks', got none", item);
    std::size_t address = segment.address;
    for (const PickleValue& entry : list(*blocks, item, "blocks")) {
      open(entry, *blocks, "a block");
      SnapshotBlock block;
      block.place = entry;
      block.address = address;
      block.bytes = number(entry, "size");
      block.requested = number(entry, "requested_size", block.bytes);
      block.active = text(entry, "state").starts_with("active");
      address += block.bytes;
      if (address > segment.address + segment.bytes) {
        tree_.fail("blocks: expected " + std::to_string(segment.bytes) +
                       " bytes, as the segment has, got more",
                   entry);
      }
      segment.blocks.push_back(block);
    }
    result_.segments.push_back(std::move(segment));
  }

  void annotation(const PickleValue& item, PickleValue inside, std::size_t device) {
    open(item, inside, "an annotation");
    if (number(item, "device", 0) != device) return;
    result_.annotations.push_back(
        {number(item, "time_us", 0), text(item, "name"), text(item, "stage") == "START"});
  }

  // --- values ------------------------------------------------------------------------------------

  /// A dict, looked at once: a pickle may name the same one a million times.
  void open(const PickleValue& item, PickleValue inside, const char* what) {
    if (item.kind != Kind::dict) {
      tree_.fail(std::string(what) + ": expected a dict, got something else", inside);
    }
    if (seen_.size() <= item.container) seen_.resize(item.container + 1);
    if (seen_[item.container]) {
      tree_.fail(std::string(what) + ": expected each once, got the same again", item);
    }
    seen_[item.container] = true;
  }

  const std::vector<PickleValue>& list(const PickleValue& value, PickleValue inside,
                                       const char* what) {
    if (value.kind != Kind::list) {
      tree_.fail(std::string(what) + ": expected a list, got something else", inside);
    }
    return tree_.items(value);
  }

  std::size_t number(PickleValue dict, const char* key, std::optional<std::size_t> otherwise = {}) {
    const auto value = tree_.find(dict, key);
    if (!value && otherwise) return *otherwise;
    if (!value) tree_.fail("expected the key '" + std::string(key) + "', got none", dict);
    if (value->kind != Kind::integer || value->integer < 0 ||
        static_cast<std::uint64_t>(value->integer) > kLargestTraceBytes) {
      tree_.fail(
          std::string(key) + ": expected a whole number from 0 to " +
              std::to_string(kLargestTraceBytes) + ", got " +
              (value->kind == Kind::integer ? std::to_string(value->integer) : "something else"),
          dict);
    }
    return static_cast<std::size_t>(value->integer);
  }

  /// Empty when there is none.
  std::string_view text(PickleValue dict, const char* key) {
    const auto value = tree_.find(dict, key);
    if (!value || value->kind == Kind::none) return {};
    if (value->kind != Kind::text) {
      tree_.fail(std::string(key) + ": expected text, got something else", dict);
    }
    return *value->text;
  }

  const PickleTree& tree_;
  std::optional<int> device_;
  std::vector<PickleValue> traces_;
  std::vector<bool> seen_;
  Snapshot result_;
};

}  // namespace

Snapshot read_snapshot(const PickleTree& tree, std::optional<int> device) {
  return SnapshotReader(tree, device).run();
}

}  // namespace arenagrad
