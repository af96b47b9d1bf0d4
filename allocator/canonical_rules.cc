// The rules of the canonical search: what can be said of a node without trying.
#include <algorithm>
#include <limits>

#include "allocator/canonical.h"

namespace arenagrad {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kForget = 0.9;  // of the failures, per call

}  // namespace

/// Which buffer to decide on, nullopt if the branch is dead.
std::optional<CanonicalSearch::Index> CanonicalSearch::pick(List list) const {
  std::size_t first = list.size;  // the lowest that does not wait
  std::size_t hole_end = kNone;   // the lowest among those that do
  for (std::size_t i = list.size; i-- > 0;) {
    const Index buffer = lists_[list.at + i];
    const State& state = states_[buffer];
    if (state.waits()) {
      hole_end = std::min(hole_end, state.support + part_.buffers[buffer].size);
    } else {
      first = i;
    }
  }
  // The lowest of all that is unplaced can't be one that waits for a lower one. So nothing goes
  // below `lowest`, and no hole that ends there can be hit.
  if (first == list.size) return std::nullopt;
  const std::size_t lowest = states_[lists_[list.at + first]].floor;
  if (lowest >= hole_end) return std::nullopt;
  if (bias_ == 0) return lists_[list.at + first];

  // The worse the buffer's sections have failed, the earlier it is decided on, as long as nothing
  // can still go below it.
  Index best = lists_[list.at + first];
  double best_score = score(best);
  for (std::size_t i = first + 1; i < list.size; ++i) {
    const Index buffer = lists_[list.at + i];
    const State& state = states_[buffer];
    if (static_cast<double>(state.floor) - bias_ >= best_score) break;  // and so for all behind it
    if (state.waits() || score(buffer) >= best_score) continue;
    bool undercut = false;
    for (std::size_t j = 0; j < i && !undercut; ++j) {
      const Index other = lists_[list.at + j];
      const PackedBuffer& o = part_.buffers[other];
      undercut = std::max(states_[other].floor, lowest) + o.size <= state.floor &&
                 conflict(o, part_.buffers[buffer]);
    }
    if (undercut) continue;
    best = buffer;
    best_score = score(buffer);
  }
  return best;
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

/// Raises the floor of the i-th of the list to the lowest top of those that can hit its hole.
CanonicalSearch::Raise CanonicalSearch::raise_to_hit(List list, std::size_t i) {
  const Index buffer = lists_[list.at + i];
  const PackedBuffer& b = part_.buffers[buffer];
  const std::size_t hit = lowest_hit(list, buffer);
  if (hit == kNone) return Raise::dead;
  const State state{states_[buffer].support, round_up(hit, b.alignment)};
  if (state.floor + b.size > capacity_) return Raise::dead;
  if (state.floor <= states_[buffer].floor) return Raise::none;
  set(buffer, state);
  for (; i + 1 < list.size && before(lists_[list.at + i + 1], buffer); ++i) {
    lists_[list.at + i] = lists_[list.at + i + 1];
  }
  lists_[list.at + i] = buffer;
  return Raise::moved;
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

void CanonicalSearch::update_blame() {
  double most = 0;
  for (std::size_t i = 0; i < blame_.size(); ++i) {
    const PackedBuffer& b = part_.buffers[i];
    blame_[i] = *std::max_element(failures_.begin() + b.begin, failures_.begin() + b.end);
    most = std::max(most, blame_[i]);
  }
  if (most > 0) {
    for (double& blame : blame_) blame /= most;
  }
  for (double& failures : failures_) failures *= kForget;
}

}  // namespace arenagrad
