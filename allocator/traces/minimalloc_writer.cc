#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "allocator/traces/formats.h"
#include "allocator/traces/lives.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

/// Keeps a row for each life, 72 bytes, until the end of the trace.
class Writer final : public TraceSink {
 public:
  explicit Writer(WriteBytes write) : out_(std::move(write)) {}

  void begin(const TraceHeader& header) override { alignment_ = header.alignment; }

  void event(const TraceEvent& event) override {
    if (event.kind != Kind::allocate && event.kind != Kind::free) return;
    note_time(event);
    if (event.kind == Kind::free) {
      const auto found = live_.find(event.id);
      check_contract(found != live_.end(), "a trace frees what is not live");
      rows_[found->second].end = ordinal_++;
      rows_[found->second].timed_end = event.time;
      live_.erase(found);
      return;
    }
    Row row;
    row.id = event.id;
    row.bytes = event.bytes;
    row.alignment = event.alignment != 0 ? event.alignment : alignment_;
    row.offset = event.offset;
    row.begin = ordinal_++;
    row.timed_begin = event.time;
    any_alignment_ = any_alignment_ || row.alignment != 1;
    if (row.offset == kUnknownOffset) {
      all_offsets_ = false;
    } else {
      lowest_ = std::min(lowest_, row.offset);
    }
    live_[event.id] = rows_.size();
    rows_.push_back(row);
  }

  void end() override {
    for (const auto& [id, at] : live_) {
      rows_[at].end = ordinal_;
      rows_[at].timed_end = last_time_ + 1;
    }
    const bool own_ids = ids_are_unique();
    const bool offsets = all_offsets_ && !rows_.empty();
    const bool times = times_hold_ && last_time_ < kUnknownTime - 1;
    const std::size_t base = lowest_ >= kAddresses ? lowest_ : 0;
    out_ << "id,lower,upper,size" << (any_alignment_ ? ",alignment" : "")
         << (offsets ? ",offset" : "") << "\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      out_ << (own_ids ? row.id : i) << ',' << (times ? row.timed_begin : row.begin) << ','
           << (times ? row.timed_end : row.end) << ',' << row.bytes;
      if (any_alignment_) out_ << ',' << row.alignment;
      if (offsets) out_ << ',' << row.offset - base;
      out_ << '\n';
    }
    out_.flush();
  }

 private:
  struct Row {
    std::uint64_t id, bytes, alignment, offset, begin, end, timed_begin, timed_end;
  };

  /// From here on offsets are taken for addresses of a process, and count from the lowest.
  static constexpr std::size_t kAddresses = std::size_t{1} << 40;

  /// The trace's own times say the same as the order of events while no free comes after an
  /// allocation of the same time.
  void note_time(const TraceEvent& event) {
    times_hold_ = times_hold_ && event.time != kUnknownTime &&
                  !(event.kind == Kind::free && allocated_ && event.time == last_time_);
    if (event.time != last_time_) allocated_ = false;
    if (event.kind == Kind::allocate) allocated_ = true;
    last_time_ = event.time;
  }

  bool ids_are_unique() const {
    std::unordered_set<std::uint64_t> seen;
    seen.reserve(rows_.size());
    return std::all_of(rows_.begin(), rows_.end(),
                       [&](const Row& row) { return seen.insert(row.id).second; });
  }

  ByteSink out_;
  std::size_t alignment_ = 1;
  std::vector<Row> rows_;
  std::unordered_map<std::uint64_t, std::size_t> live_;
  std::uint64_t ordinal_ = 0, last_time_ = 0;
  bool times_hold_ = true, allocated_ = false, all_offsets_ = true, any_alignment_ = false;
  std::size_t lowest_ = kUnknownOffset;
};

}  // namespace

std::unique_ptr<TraceSink> make_minimalloc_writer(WriteBytes write) {
  return std::make_unique<Writer>(std::move(write));
}

}  // namespace arenagrad
