#include "allocator/greedy.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "allocator/occupancy.h"

namespace arenagrad {
namespace {

std::size_t place_of(std::span<const Extent> taken, std::size_t bytes, std::size_t alignment,
                     GapRule rule) {
  std::size_t best = 0;
  std::size_t best_gap = 0;  // 0: none yet
  std::size_t top = 0;
  for (const Extent& extent : taken) {
    if (extent.begin > top) {
      const std::size_t gap = extent.begin - top;
      const std::size_t start = round_up(top, alignment);
      if (start + bytes <= extent.begin && (best_gap == 0 || gap < best_gap)) {
        if (rule == GapRule::first || gap == bytes) return start;
        best = start;
        best_gap = gap;
      }
    }
    top = std::max(top, extent.end);
  }
  return best_gap > 0 ? best : round_up(top, alignment);
}

std::size_t rounded(const Lifetime& l) { return round_up(l.bytes, l.alignment); }

std::uint64_t duration(const Lifetime& l) { return l.end > l.begin ? l.end - l.begin : 0; }

/// How many others live at some time of each one's life.
std::vector<std::size_t> conflict_counts(std::span<const Lifetime> lifetimes) {
  std::vector<std::uint32_t> begins, ends;
  for (const Lifetime& l : lifetimes) {
    begins.push_back(l.begin);
    ends.push_back(l.end);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<std::size_t> counts;
  for (const Lifetime& l : lifetimes) {
    const auto born = std::lower_bound(begins.begin(), begins.end(), l.end) - begins.begin();
    const auto died = std::upper_bound(ends.begin(), ends.end(), l.begin) - ends.begin();
    counts.push_back(static_cast<std::size_t>(std::max<std::ptrdiff_t>(born - died, 0)));
  }
  return counts;
}

/// For each buffer the most bytes live at any time of its life.
std::vector<std::size_t> breadths(std::span<const Lifetime> lifetimes) {
  // A table of maxima over spans of 2^k begins: live bytes only rise at a begin.
  std::vector<std::pair<std::uint64_t, std::size_t>> changes;
  std::vector<std::uint32_t> begins;
  for (const Lifetime& l : lifetimes) {
    const std::size_t bytes = l.begin < l.end ? rounded(l) : 0;
    changes.emplace_back(std::uint64_t{l.begin} * 2 + 1, bytes);
    changes.emplace_back(std::uint64_t{l.end} * 2, bytes);
    begins.push_back(l.begin);
  }
  std::sort(changes.begin(), changes.end());
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<std::vector<std::size_t>> maxima(1);
  std::size_t live = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [time, bytes] = changes[i];
    live = time % 2 == 1 ? live + bytes : live - bytes;
    const bool last_begin =
        time % 2 == 1 && (i + 1 == changes.size() || changes[i + 1].first != time);
    if (last_begin) maxima[0].push_back(live);
  }
  for (std::size_t width = 1; 2 * width <= begins.size(); width *= 2) {
    const std::vector<std::size_t>& half = maxima.back();
    std::vector<std::size_t> whole;
    for (std::size_t i = 0; i + width < half.size(); ++i) {
      whole.push_back(std::max(half[i], half[i + width]));
    }
    maxima.push_back(std::move(whole));
  }
  const auto at = [&](std::uint32_t time) {
    return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), time) -
                                    begins.begin());
  };
  std::vector<std::size_t> most;
  for (const Lifetime& l : lifetimes) {
    const std::size_t first = at(l.begin);
    const std::size_t last = std::max(at(l.end), first + 1);
    std::size_t level = 0;
    while (std::size_t{2} << level <= last - first) ++level;
    most.push_back(std::max(maxima[level][first], maxima[level][last - (std::size_t{1} << level)]));
  }
  return most;
}

}  // namespace

std::vector<std::size_t> ordered(std::span<const Lifetime> lifetimes, Order order) {
  using Key = std::pair<double, double>;  // greatest first
  std::vector<Key> keys;
  const auto fill = [&](auto&& key) {
    for (std::size_t i = 0; i < lifetimes.size(); ++i) keys.push_back(key(i));
  };
  const auto size = [&](std::size_t i) { return static_cast<double>(rounded(lifetimes[i])); };
  const auto life = [&](std::size_t i) { return static_cast<double>(duration(lifetimes[i])); };
  switch (order) {
    case Order::size: fill([&](std::size_t i) { return Key{size(i), 0}; }); break;
    case Order::lifetime: fill([&](std::size_t i) { return Key{life(i), size(i)}; }); break;
    case Order::area: fill([&](std::size_t i) { return Key{size(i) * life(i), size(i)}; }); break;
    case Order::breadth: {
      const std::vector<std::size_t> most = breadths(lifetimes);
      fill([&](std::size_t i) { return Key{static_cast<double>(most[i]), size(i)}; });
      break;
    }
    case Order::start:
      fill([&](std::size_t i) { return Key{-static_cast<double>(lifetimes[i].begin), size(i)}; });
      break;
    case Order::conflicts: {
      const std::vector<std::size_t> counts = conflict_counts(lifetimes);
      fill([&](std::size_t i) { return Key{static_cast<double>(counts[i]), size(i)}; });
      break;
    }
  }
  std::vector<std::size_t> positions(lifetimes.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a] != keys[b]) return keys[a] > keys[b];
    return lifetimes[a].begin < lifetimes[b].begin;
  });
  return positions;
}

Plan place_in_order(std::span<const Lifetime> lifetimes, std::span<const std::size_t> order,
                    GapRule rule) {
  Plan plan;
  plan.offsets.resize(lifetimes.size());
  Occupancy occupancy(lifetimes);
  for (const std::size_t i : order) {
    const std::size_t bytes = rounded(lifetimes[i]);
    if (bytes == 0) continue;  // nothing to place: offset 0
    const std::size_t offset =
        place_of(occupancy.taken(lifetimes[i]), bytes, lifetimes[i].alignment, rule);
    occupancy.insert(lifetimes[i], {offset, offset + bytes});
    plan.offsets[i] = offset;
    plan.height = std::max(plan.height, offset + bytes);
  }
  return plan;
}

}  // namespace arenagrad
