// google/minimalloc's CSV: id,lower,upper,size, half-open; with columns start and end instead the
// end is inclusive. Optional columns: alignment, offset. Others are passed over, but for gaps.
#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>

#include "allocator/traces/checks.h"
#include "allocator/traces/csv.h"
#include "allocator/traces/formats.h"
#include "allocator/traces/lives.h"

namespace arenagrad {
namespace {

constexpr std::size_t kMostRows = std::size_t{1} << 24;

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source), rows_(source) {
    id_ = rows_.column({"id", "buffer", "buffer_id"});
    lower_ = rows_.column({"lower", "start", "begin"});
    inclusive_ = !rows_.find({"upper"});
    upper_ = inclusive_ ? rows_.column({"end"}) : rows_.column({"upper"});
    size_ = rows_.column({"size"});
    alignment_ = rows_.find({"alignment"});
    offset_ = rows_.find({"offset"});
    gaps_ = rows_.find({"gaps"});
  }

  void run(TraceSink& sink) {
    while (rows_.next()) row();
    name_rows();
    sink.begin({});
    // What overlaps shows only in order of time; the line is the later one's.
    TraceChecks checks;
    replay_lifetimes(lives_, [&](const TraceEvent& event, std::size_t row) {
      if (const auto problem = checks.apply(event); !problem.empty()) {
        throw TraceError(problem + ", at line " + std::to_string(line_of(row)) + " of " +
                         source_.name());
      }
      if (event.kind == TraceEvent::Kind::free || numbers_) return sink.event(event);
      TraceEvent named = event;
      named.name = texts_[row];
      sink.event(named);
    });
    sink.end();
  }

 private:
  void row() {
    if (lives_.size() == kMostRows) {
      rows_.fail("rows: expected at most " + std::to_string(kMostRows) + ", got more");
    }
    TraceLife life;
    life.begin = rows_.number(lower_);
    life.end = rows_.number(upper_);
    if (inclusive_ && life.end < kUnknownTime) ++life.end;
    if (life.end <= life.begin || life.end == kUnknownTime) {
      rows_.fail("lifetime: expected an end after the beginning at " + std::to_string(life.begin) +
                 ", got " + std::string(rows_.field(upper_)));
    }
    life.bytes = rows_.number(size_);
    if (life.bytes == 0 || life.bytes > kLargestTraceBytes) {
      rows_.fail("size: expected 1 to " + std::to_string(kLargestTraceBytes) + " bytes, got " +
                 std::to_string(life.bytes));
    }
    if (alignment_) {
      life.alignment = rows_.number(*alignment_);
      if (life.alignment == 0 || (life.alignment & (life.alignment - 1)) != 0) {
        rows_.fail("alignment: expected a power of two, got " + std::to_string(life.alignment));
      }
      if (life.alignment == 1) life.alignment = 0;  // the trace's
    }
    if (offset_ && !rows_.field(*offset_).empty()) life.offset = rows_.number(*offset_);
    if (gaps_ && !rows_.field(*gaps_).empty()) {
      rows_.fail("gaps: expected none (they are not supported), got " +
                 quoted_excerpt(rows_.field(*gaps_)));
    }
    identify(life);
    if (lives_.empty() || source_.line_number() != line_ + 1) {
      lines_.push_back({lives_.size(), source_.line_number()});
    }
    line_ = source_.line_number();
    lives_.push_back(life);
  }

  /// Ids are numbers, or any text in all of the file: then rows are numbered and text is a name.
  void identify(TraceLife& life) {
    const auto text = rows_.field(id_);
    if (text.empty()) rows_.fail("id: expected one, got none");
    if (numbers_ && !is_number(text)) {
      numbers_ = false;
      for (const auto& earlier : lives_) texts_.push_back(std::to_string(earlier.id));
    }
    if (numbers_) {
      life.id = rows_.number(id_);
    } else {
      texts_.emplace_back(text);
    }
  }

  static bool is_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() &&
           (text.size() == 1 || text[0] != '0');
  }

  std::uint64_t line_of(std::size_t row) const {
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), std::pair{row, kUnknownTime});
    return std::prev(after)->second + (row - std::prev(after)->first);
  }

  void name_rows() {
    if (numbers_) return;
    std::unordered_map<std::string_view, std::uint64_t> known;  // the same text is the same buffer
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      lives_[i].id = known.emplace(texts_[i], i).first->second;
    }
  }

  ByteSource& source_;
  CsvRows rows_;
  std::size_t id_, lower_, upper_, size_;
  bool inclusive_;
  std::optional<std::size_t> alignment_, offset_, gaps_;
  std::vector<TraceLife> lives_;
  // Rows that don't stand right below the one before, with their lines.
  std::vector<std::pair<std::size_t, std::uint64_t>> lines_;
  std::uint64_t line_ = 0;  // of the last row
  bool numbers_ = true;
  std::deque<std::string> texts_;
};

}  // namespace

void read_minimalloc(ByteSource& source, TraceSink& sink, const ReadTraceOptions&) {
  Reader(source).run(sink);
}

}  // namespace arenagrad
