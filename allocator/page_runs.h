// Free pages, kept as runs of neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace arenagrad {

/// Pages [begin, end).
struct PageRun {
  std::size_t begin, end;
  std::size_t pages() const { return end - begin; }
};

class PageRuns {
 public:
  std::size_t pages() const { return pages_; }

  bool contains(const PageRun& run) const {
    const auto after = by_place_.upper_bound(run.begin);
    return after != by_place_.begin() && std::prev(after)->second >= run.end;
  }

  /// Joins neighbouring runs.
  void insert(PageRun run) {
    pages_ += run.pages();
    if (const auto next = by_place_.find(run.end); next != by_place_.end()) {
      run.end = next->second;
      forget({next->first, next->second});
    }
    const auto after = by_place_.lower_bound(run.begin);
    if (after != by_place_.begin() && std::prev(after)->second == run.begin) {
      run.begin = std::prev(after)->first;
      forget({run.begin, std::prev(after)->second});
    }
    remember(run);
  }

  /// All of `run` is in here.
  void erase(const PageRun& run) {
    const auto it = std::prev(by_place_.upper_bound(run.begin));
    const PageRun whole{it->first, it->second};
    pages_ -= run.pages();
    forget(whole);
    if (whole.begin < run.begin) remember({whole.begin, run.begin});
    if (run.end < whole.end) remember({run.end, whole.end});
  }

  /// `pages` from the begin of the smallest sufficient run, the lowest among equals; an empty run
  /// when there is none.
  PageRun best(std::size_t pages) const {
    const auto it = by_size_.lower_bound({pages, 0});
    if (it == by_size_.end()) return {0, 0};
    return {it->second, it->second + pages};
  }

  /// `pages` of the largest runs, the last of them in part, in order of place. There are as many.
  std::vector<PageRun> largest(std::size_t pages) const {
    std::vector<PageRun> runs;
    for (auto it = by_size_.rbegin(); pages > 0; ++it) {
      const std::size_t part = std::min(pages, it->first);
      runs.push_back({it->second, it->second + part});
      pages -= part;
    }
    std::sort(runs.begin(), runs.end(),
              [](const PageRun& a, const PageRun& b) { return a.begin < b.begin; });
    return runs;
  }

 private:
  void remember(const PageRun& run) {
    by_place_.emplace(run.begin, run.end);
    by_size_.emplace(run.pages(), run.begin);
  }
  void forget(const PageRun& run) {
    by_place_.erase(run.begin);
    by_size_.erase({run.pages(), run.begin});
  }

  std::map<std::size_t, std::size_t> by_place_;            // begin to end
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // pages and begin
  std::size_t pages_ = 0;
};

}  // namespace arenagrad
