#include "allocator/occupancy.h"

#include <algorithm>

namespace arenagrad {
namespace {

void unite(Extents& extents, Extent extent) {
  // All from `first` up to `last` touch the new one.
  const auto first = std::lower_bound(extents.begin(), extents.end(), extent.begin,
                                      [](const Extent& e, std::size_t at) { return e.end < at; });
  auto last = first;
  while (last != extents.end() && last->begin <= extent.end) {
    extent.begin = std::min(extent.begin, last->begin);
    extent.end = std::max(extent.end, last->end);
    ++last;
  }
  if (first == last) {
    extents.insert(first, extent);
  } else {
    *first = extent;
    extents.erase(first + 1, last);
  }
}

}  // namespace

Occupancy::Occupancy(std::span<const Lifetime> lifetimes) {
  for (const Lifetime& l : lifetimes) begins_.push_back(l.begin);
  std::sort(begins_.begin(), begins_.end());
  begins_.erase(std::unique(begins_.begin(), begins_.end()), begins_.end());
  while (leaves_ < begins_.size()) leaves_ *= 2;
  covering_.resize(2 * leaves_);
  touching_.resize(2 * leaves_);
}

Occupancy::Steps Occupancy::steps(const Lifetime& lifetime) const {
  const auto at = [&](std::uint32_t time) {
    return static_cast<std::size_t>(std::lower_bound(begins_.begin(), begins_.end(), time) -
                                    begins_.begin());
  };
  return {at(lifetime.begin), at(lifetime.end)};
}

void Occupancy::insert(const Lifetime& lifetime, Extent extent) {
  if (lifetime.begin < lifetime.end) insert(1, {0, leaves_}, steps(lifetime), extent);
}

void Occupancy::insert(std::size_t node, Steps range, Steps steps, Extent extent) {
  if (steps.begin >= range.end || steps.end <= range.begin) return;
  unite(touching_[node], extent);
  if (steps.begin <= range.begin && range.end <= steps.end) {
    unite(covering_[node], extent);
    return;
  }
  const std::size_t middle = (range.begin + range.end) / 2;
  insert(2 * node, {range.begin, middle}, steps, extent);
  insert(2 * node + 1, {middle, range.end}, steps, extent);
}

std::span<const Extent> Occupancy::taken(const Lifetime& lifetime) {
  gathered_.clear();
  if (lifetime.begin < lifetime.end) gather(1, {0, leaves_}, steps(lifetime));
  std::sort(gathered_.begin(), gathered_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  return gathered_;
}

void Occupancy::gather(std::size_t node, Steps range, Steps steps) {
  if (steps.begin >= range.end || steps.end <= range.begin) return;
  const bool inside = steps.begin <= range.begin && range.end <= steps.end;
  const Extents& extents = inside ? touching_[node] : covering_[node];
  gathered_.insert(gathered_.end(), extents.begin(), extents.end());
  if (inside) return;
  const std::size_t middle = (range.begin + range.end) / 2;
  gather(2 * node, {range.begin, middle}, steps);
  gather(2 * node + 1, {middle, range.end}, steps);
}

}  // namespace arenagrad
