#include "allocator/stitched_ranges.h"

#include <algorithm>

#include "allocator/live_table.h"

namespace arenagrad {
namespace {

constexpr std::size_t kTimesCommitted = 4;
constexpr std::size_t kMostRanges = 4096;

}  // namespace

std::optional<std::uint64_t> StitchedRanges::take(std::size_t pages, PageRuns& free) {
  const auto [first, last] = by_pages_.equal_range(pages);
  for (auto it = first; it != last; ++it) {
    Range& range = ranges_.at(it->second);
    const bool all_free = std::all_of(range.runs.begin(), range.runs.end(),
                                      [&](const PageRun& run) { return free.contains(run); });
    if (!all_free) continue;
    for (const PageRun& run : range.runs) free.erase(run);
    range.used = true;
    return it->second;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> StitchedRanges::add(const std::vector<PageRun>& runs,
                                                 std::size_t committed, PageRuns& free) {
  Range range{0, 0, runs, true};
  for (const PageRun& run : runs) range.pages += run.pages();
  drop_idle(std::max(kTimesCommitted * committed, range.pages) - range.pages);
  range.offset = addresses_.take(range.pages * page_);
  if (!map(range)) {
    addresses_.give_back(range.offset, range.pages * page_);
    return std::nullopt;
  }
  for (const PageRun& run : runs) free.erase(run);
  pages_ += range.pages;
  by_pages_.emplace(range.pages, next_);
  ranges_.emplace(next_, std::move(range));
  return next_++;
}

void StitchedRanges::give_back(std::uint64_t serial, PageRuns& free) {
  Range& range = ranges_.at(serial);
  for (const PageRun& run : range.runs) free.insert(run);
  range.used = false;
}

std::uint64_t StitchedRanges::hash() const {
  std::uint64_t hash = 0;
  for (const auto& [serial, range] : ranges_) {
    hash = LiveTable::mix(hash, range.offset);
    for (const PageRun& run : range.runs) {
      hash = LiveTable::mix(LiveTable::mix(hash, run.begin), run.end);
    }
  }
  return hash;
}

bool StitchedRanges::map(const Range& range) {
  std::size_t offset = range.offset;
  for (std::size_t i = 0; i < range.runs.size(); ++i) {
    const std::size_t bytes = range.runs[i].pages() * page_;
    if (!driver_.map(offset, home_ + range.runs[i].begin * page_, bytes)) {
      unmap(range, i);
      return false;
    }
    offset += bytes;
  }
  return true;
}

void StitchedRanges::unmap(const Range& range, std::size_t runs) {
  std::size_t offset = range.offset;
  for (std::size_t i = 0; i < runs; ++i) {
    driver_.unmap(offset, range.runs[i].pages() * page_);
    offset += range.runs[i].pages() * page_;
  }
}

void StitchedRanges::drop_idle(std::size_t most_pages) {
  for (auto it = ranges_.begin(); it != ranges_.end();) {
    if (pages_ <= most_pages && ranges_.size() < kMostRanges) return;
    const auto& [serial, range] = *it;
    if (range.used) {
      ++it;
      continue;
    }
    unmap(range, range.runs.size());
    addresses_.give_back(range.offset, range.pages * page_);
    pages_ -= range.pages;
    const auto [first, last] = by_pages_.equal_range(range.pages);
    by_pages_.erase(
        std::find_if(first, last, [s = serial](const auto& e) { return e.second == s; }));
    it = ranges_.erase(it);
  }
}

}  // namespace arenagrad
