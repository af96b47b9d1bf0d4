#include "allocator/canonical.h"

#include <algorithm>
#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

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
      failures_(part.sections()),
      blame_(part.buffers.size()) {
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
                               double boldness, std::uint64_t nodes, StepMeter& meter) {
  capacity_ = capacity;
  bias_ = boldness * static_cast<double>(capacity);
  meter_ = &meter;
  nodes_ = 0;
  most_nodes_ = nodes;
  cover_ = best_cover_ = 0;
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
  const bool hopeless = !fits(all, 0, part_.sections());
  const Outcome outcome = hopeless ? Outcome::impossible : descend(all);
  update_blame();
  return outcome;
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
    const std::optional<Index> buffer = pick(list);
    if (!buffer) break;
    outcome = place(list, *buffer);
    if (outcome != Outcome::impossible) break;
    if (!wait(list, *buffer, own_from)) break;
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
  if (list.at < own_from) {
    lists_.resize(own_from + list.size);
    std::copy_n(lists_.begin() + static_cast<std::ptrdiff_t>(list.at), list.size,
                lists_.begin() + static_cast<std::ptrdiff_t>(own_from));
    list.at = own_from;
  }
  std::size_t i = 0;
  while (lists_[list.at + i] != buffer) ++i;
  std::uint32_t begin = part_.buffers[buffer].begin;
  std::uint32_t end = part_.buffers[buffer].end;
  if (raise_to_hit(list, i) == Raise::dead) return false;
  // Others may have waited for this one.
  for (i = 0; i < list.size;) {
    const Index other = lists_[list.at + i];
    const PackedBuffer& o = part_.buffers[other];
    Raise raise = Raise::none;
    if (states_[other].waits() && other != buffer && conflict(o, part_.buffers[buffer])) {
      raise = raise_to_hit(list, i);
    }
    if (raise == Raise::dead) return false;
    if (raise == Raise::none) ++i;  // else another one stands here now
    if (raise == Raise::moved) {
      begin = std::min(begin, o.begin);
      end = std::max(end, o.end);
    }
  }
  return fits(list, begin, end);
}

}  // namespace arenagrad
