// Which addresses are taken. Neighbours are joined, so that it stays small where memory is dense.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>

namespace arenagrad {

class IntervalSet {
 public:
  /// Takes [begin, end), not empty; false, and nothing changes, when some of it is taken.
  bool add(std::size_t begin, std::size_t end) {
    auto next = intervals_.lower_bound(begin);
    if (next != intervals_.end() && next->first < end) return false;
    if (next != intervals_.begin()) {
      const auto before = std::prev(next);
      if (before->second > begin) return false;
      if (before->second == begin) {
        begin = before->first;
        intervals_.erase(before);
      }
    }
    if (next != intervals_.end() && next->first == end) {
      end = next->second;
      next = intervals_.erase(next);
    }
    intervals_.emplace_hint(next, begin, end);
    return true;
  }

  /// Gives it back; false, and nothing changes, unless all of it is taken.
  bool remove(std::size_t begin, std::size_t end) {
    const auto found = holder(begin, end);
    if (found == intervals_.end()) return false;
    const auto [first, last] = *found;
    intervals_.erase(found);
    if (first < begin) intervals_.emplace(first, begin);
    if (end < last) intervals_.emplace(end, last);
    return true;
  }

  bool covers(std::size_t begin, std::size_t end) const {
    return const_cast<IntervalSet*>(this)->holder(begin, end) != intervals_.end();
  }

  /// Begin to end, ascending, apart from one another.
  const std::map<std::size_t, std::size_t>& intervals() const { return intervals_; }
  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::map<std::size_t, std::size_t>::iterator holder(std::size_t begin, std::size_t end) {
    const auto next = intervals_.upper_bound(begin);
    if (next == intervals_.begin()) return intervals_.end();
    const auto found = std::prev(next);
    return found->second >= end ? found : intervals_.end();
  }

  std::map<std::size_t, std::size_t> intervals_;
};

}  // namespace arenagrad
