#include "allocator/canonical.h"

#include <algorithm>
#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kForget = 0.9;  // of the failures, per call

double area(const PackedBuffer& b) {
  return static_cast<double>(b.size) * static_cast<double>(b.end - b.begin);
}

}  // namespace

CanonicalSearch::CanonicalSearch(const Part& part)
    : part_(part),
      cost_(StepMeter::cost(part.buffers.size())),
      offsets_(part.buffers.size()),
      states_(part.buffers.size()),
      rank_(part.buffers.size()),
      bridges_(part.sections()),
      failures_(part.sections()) {
  check_contract(part.buffers.size() <= kMostBuffers, "a part too large for an exact search");
  if (part.bound <= std::numeric_limits<std::int16_t>::max()) {
    sums16_.resize(part.sections());
  } else if (part.bound <= std::numeric_limits<std::int32_t>::max()) {
    sums32_.resize(part.sections());
  } else {
    sums64_.resize(part.sections());
  }
}

Outcome CanonicalSearch::solve(std::size_t capacity, std::span<const std::uint32_t> order,
                               std::uint64_t nodes, StepMeter& meter) {
  capacity_ = capacity;
  meter_ = &meter;
  nodes_ = 0;
  most_nodes_ = nodes;
  cover_ = best_cover_ = 0;
  for (double& failures : failures_) failures *= kForget;
  std::fill(states_.begin(), states_.end(), State{});
  std::fill(bridges_.begin(), bridges_.end(), 0u);
  trail_.clear();
  lists_.clear();
  for (std::uint32_t r = 0; r < order.size(); ++r) {
    rank_[order[r]] = r;
    lists_.push_back(static_cast<Index>(order[r]));
    const PackedBuffer& b = part_.buffers[order[r]];
    for (std::uint32_t s = b.begin; s + 1 < b.end; ++s) ++bridges_[s];
  }
  const List all{0, lists_.size()};
  if (!fits(all, 0, part_.sections())) return Outcome::impossible;
  return descend(all);
}

void CanonicalSearch::set(Index buffer, State state) {
  trail_.push_back({buffer, states_[buffer]});
  states_[buffer] = state;
}

void CanonicalSearch::rewind(std::size_t trail) {
  for (; trail_.size() > trail; trail_.pop_back()) {
    states_[trail_.back().buffer] = trail_.back().state;
  }
}

void CanonicalSearch::mark_placed(const PackedBuffer& buffer) {
  for (std::uint32_t s = buffer.begin; s + 1 < buffer.end; ++s) --bridges_[s];
  cover_ += area(buffer);
  best_cover_ = std::max(best_cover_, cover_);
}

void CanonicalSearch::unmark_placed(const PackedBuffer& buffer) {
  for (std::uint32_t s = buffer.begin; s + 1 < buffer.end; ++s) ++bridges_[s];
  cover_ -= area(buffer);
}

/// Whether in each of those sections what is unplaced can still lie one above the other.
bool CanonicalSearch::fits(List list, std::uint32_t begin, std::uint32_t end) {
  if (!sums16_.empty()) return fits_in(sums16_, list, begin, end);
  if (!sums32_.empty()) return fits_in(sums32_, list, begin, end);
  return fits_in(sums64_, list, begin, end);
}

template <typename Sum>
bool CanonicalSearch::fits_in(std::vector<Sum>& sums, List list, std::uint32_t begin,
                              std::uint32_t end) {
  std::fill(sums.begin() + begin, sums.begin() + end, Sum{0});
  // From the highest floor down: what has been added up lies above the present floor.
  for (std::size_t i = list.size; i-- > 0;) {
    const Index buffer = lists_[list.at + i];
    const PackedBuffer& b = part_.buffers[buffer];
    const Sum size = static_cast<Sum>(b.size);
    const std::uint32_t last = std::min(b.end, end);
    Sum most = 0;
    for (std::uint32_t s = std::max(b.begin, begin); s < last; ++s) {
      sums[s] = static_cast<Sum>(sums[s] + size);
      most = std::max(most, sums[s]);
    }
    const std::size_t floor = std::min(states_[buffer].floor, capacity_);
    const std::size_t room = capacity_ - floor;
    if (static_cast<std::size_t>(most) > room) {
      for (std::uint32_t s = std::max(b.begin, begin); s < last; ++s) {
        if (static_cast<std::size_t>(sums[s]) > room) failures_[s] += 1;
      }
      return false;
    }
  }
  return true;
}

/// The lowest top of those that can still cut into the bytes above the buffer's support.
std::size_t CanonicalSearch::lowest_hit(List list, Index buffer) const {
  const PackedBuffer& b = part_.buffers[buffer];
  const std::size_t hole_end = states_[buffer].support + b.size;
  std::size_t lowest = kNone;
  for (std::size_t i = 0; i < list.size; ++i) {
    const Index other = lists_[list.at + i];
    if (states_[other].floor >= hole_end) break;  // and so have all behind it
    if (other == buffer || !conflict(part_.buffers[other], b)) continue;
    lowest = std::min(lowest, states_[other].floor + part_.buffers[other].size);
  }
  return lowest;
}

/// Decides everything in `list`, which bridges all of its time. If it finds a plan, what it placed
/// stays marked; if not, all is as before.
Outcome CanonicalSearch::descend(List list) {
  const std::size_t trail = trail_.size();
  const std::size_t own_from = lists_.size();
  Outcome outcome = Outcome::impossible;
  while (true) {
    if (list.size == 0) return Outcome::found;
    if (nodes_ >= most_nodes_ || !meter_->step(cost_)) {
      outcome = Outcome::undecided;
      break;
    }
    ++nodes_;
    std::size_t pick = kNone;
    std::size_t hole_end = kNone;  // the lowest among the waiting
    for (std::size_t i = list.size; i-- > 0;) {
      const Index buffer = lists_[list.at + i];
      const State& state = states_[buffer];
      if (state.waits()) {
        hole_end = std::min(hole_end, state.support + part_.buffers[buffer].size);
      } else {
        pick = i;
      }
    }
    // From here on everything goes at or above the pick's support: nobody can hit that hole.
    if (pick == kNone || states_[lists_[list.at + pick]].floor >= hole_end) break;
    const Index buffer = lists_[list.at + pick];
    outcome = place(list, buffer);
    if (outcome != Outcome::impossible) break;
    if (!wait(list, buffer, own_from)) break;
  }
  lists_.resize(own_from);
  if (outcome != Outcome::found) rewind(trail);
  return outcome;
}

/// Tries the buffer on its support.
Outcome CanonicalSearch::place(List list, Index buffer) {
  const std::size_t trail = trail_.size();
  const PackedBuffer& b = part_.buffers[buffer];
  offsets_[buffer] = states_[buffer].support;
  const std::size_t top = offsets_[buffer] + b.size;
  mark_placed(b);

  List rest{lists_.size(), 0};
  lists_.resize(rest.at + list.size - 1);
  raised_.clear();
  std::uint32_t begin = b.begin;  // the sections in which something rises
  std::uint32_t end = b.end;
  for (std::size_t i = 0; i < list.size; ++i) {
    const Index other = lists_[list.at + i];
    if (other == buffer) continue;
    const PackedBuffer& o = part_.buffers[other];
    const State& state = states_[other];
    if (state.support < top && conflict(o, b)) {
      const std::size_t support = round_up(top, o.alignment);
      const bool rises = state.floor <= support;
      set(other, {support, std::max(state.floor, support)});
      if (rises) {
        raised_.push_back(other);
        begin = std::min(begin, o.begin);
        end = std::max(end, o.end);
        continue;
      }
    }
    lists_[rest.at + rest.size++] = other;
  }
  std::sort(raised_.begin(), raised_.end(), [&](Index x, Index y) { return before(x, y); });
  // Merged from the back, in place.
  std::size_t kept = rest.size;
  rest.size += raised_.size();
  std::size_t to = rest.size;
  while (!raised_.empty()) {
    if (kept > 0 && before(raised_.back(), lists_[rest.at + kept - 1])) {
      lists_[rest.at + --to] = lists_[rest.at + --kept];
    } else {
      lists_[rest.at + --to] = raised_.back();
      raised_.pop_back();
    }
  }

  const Outcome outcome = fits(rest, begin, end) ? split(rest, b) : Outcome::impossible;
  lists_.resize(rest.at);
  if (outcome != Outcome::found) {
    unmark_placed(b);
    rewind(trail);
  }
  return outcome;
}

/// Where nothing bridges two stretches any more, since `placed` is, they have nothing to do with
/// each other: a failure in one must not try the other's choices again.
Outcome CanonicalSearch::split(List list, const PackedBuffer& placed) {
  std::vector<std::uint32_t> cuts;  // first sections of all stretches but the first
  for (std::uint32_t s = placed.begin; s + 1 < placed.end; ++s) {
    if (bridges_[s] == 0) cuts.push_back(s + 1);
  }
  if (cuts.empty()) return descend(list);

  std::vector<std::vector<Index>> stretches(cuts.size() + 1);
  for (std::size_t i = 0; i < list.size; ++i) {
    const Index buffer = lists_[list.at + i];
    const std::uint32_t at = part_.buffers[buffer].begin;
    stretches[static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), at) -
                                       cuts.begin())]
        .push_back(buffer);
  }
  // The smallest first: where that fails, little is lost.
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const std::size_t trail = trail_.size();
  Outcome outcome = Outcome::found;
  std::size_t done = 0;
  for (; done < stretches.size() && outcome == Outcome::found; ++done) {
    const List stretch{lists_.size(), stretches[done].size()};
    lists_.insert(lists_.end(), stretches[done].begin(), stretches[done].end());
    outcome = descend(stretch);
    lists_.resize(stretch.at);
  }
  if (outcome != Outcome::found) {
    for (std::size_t i = 0; i + 1 < done; ++i) {
      for (const Index buffer : stretches[i]) unmark_placed(part_.buffers[buffer]);
    }
    rewind(trail);
  }
  return outcome;
}

/// The buffer goes above its support. False when it can't. The list becomes the caller's own, from
/// `own_from` on.
bool CanonicalSearch::wait(List& list, Index buffer, std::size_t own_from) {
  const PackedBuffer& b = part_.buffers[buffer];
  const std::size_t hit = lowest_hit(list, buffer);
  if (hit == kNone) return false;
  const State state{states_[buffer].support, round_up(hit, b.alignment)};
  if (state.floor + b.size > capacity_) return false;
  set(buffer, state);
  if (list.at < own_from) {
    lists_.resize(own_from + list.size);
    std::copy_n(lists_.begin() + static_cast<std::ptrdiff_t>(list.at), list.size,
                lists_.begin() + static_cast<std::ptrdiff_t>(own_from));
    list.at = own_from;
  }
  std::size_t i = list.at;
  while (lists_[i] != buffer) ++i;
  const std::size_t last = list.at + list.size - 1;
  for (; i < last && before(lists_[i + 1], buffer); ++i) lists_[i] = lists_[i + 1];
  lists_[i] = buffer;
  return fits(list, b.begin, b.end);
}

}  // namespace arenagrad
