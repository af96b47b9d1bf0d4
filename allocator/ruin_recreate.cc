#include "allocator/ruin_recreate.h"

#include <algorithm>
#include <limits>

namespace arenagrad {
namespace {

// Tuned on ResNet-50's tape and minimalloc's eleven problems.
constexpr std::size_t kMostVictims = 12;  // besides the top one
constexpr std::size_t kHistory = 50;

}  // namespace

RuinRecreate::RuinRecreate(const Part& part, const std::vector<std::size_t>& offsets,
                           std::size_t target)
    : part_(part), target_(target), best_(offsets), chosen_(part.buffers.size()) {
  for (std::uint32_t i = 0; i < part.buffers.size(); ++i) insert(i, offsets[i]);
  score_ = score();
  start_height_ = best_height_ = score_.height;
  history_.assign(kHistory, score_.excess);
}

void RuinRecreate::iterate() {
  choose_victims();
  before_ = placed_;
  take_out();
  double& earlier = history_[tries_++ % kHistory];
  bool kept = false;
  if (put_back()) {
    const Score after = score();
    kept = after.excess <= score_.excess || after.excess <= earlier;
    if (kept) score_ = after;
  }
  if (!kept) placed_.swap(before_);
  earlier = score_.excess;
  if (score_.height < best_height_) {
    best_height_ = score_.height;
    for (const Placed& p : placed_) best_[p.buffer] = p.offset;
  }
}

RuinRecreate::Score RuinRecreate::score() const {
  Score score;
  for (const Placed& p : placed_) {
    if (p.top <= target_) continue;
    score.height = std::max(score.height, p.top);
    const double above = static_cast<double>(p.top - target_) / static_cast<double>(target_);
    score.excess += above * above * above * above * (p.end - p.begin);
  }
  score.height = std::max(score.height, target_);
  return score;
}

/// One at the very top, or any above the target.
void RuinRecreate::choose_peak() {
  neighbours_.clear();
  const std::size_t above = random(2) == 0 ? score_.height - 1 : target_;
  for (const Placed& p : placed_) {
    if (p.top > above) neighbours_.push_back(p.buffer);
  }
  victims_.push_back(neighbours_[random(neighbours_.size())]);
}

/// All that conflict with it, in order of offset.
void RuinRecreate::collect(const PackedBuffer& centre) {
  neighbours_.clear();
  for (const Placed& p : placed_) {
    if (p.begin < centre.end && centre.begin < p.end && !chosen_[p.buffer]) {
      neighbours_.push_back(p.buffer);
    }
  }
}

void RuinRecreate::choose_victims() {
  victims_.clear();
  choose_peak();
  chosen_[victims_.front()] = true;
  collect(part_.buffers[victims_.front()]);
  // What stands in the way may itself be held up by something further off in time.
  if (random(2) == 0 && !neighbours_.empty()) {
    collect(part_.buffers[neighbours_[random(neighbours_.size())]]);
  }
  for (std::size_t more = 1 + random(kMostVictims); more > 0 && !neighbours_.empty(); --more) {
    const std::size_t at = random(neighbours_.size());
    victims_.push_back(neighbours_[at]);
    chosen_[neighbours_[at]] = true;
    neighbours_[at] = neighbours_.back();
    neighbours_.pop_back();
  }
}

void RuinRecreate::take_out() {
  std::erase_if(placed_, [&](const Placed& p) { return chosen_[p.buffer]; });
  for (const std::uint32_t victim : victims_) chosen_[victim] = false;
}

/// False as soon as one would pass the height of the start.
bool RuinRecreate::put_back() {
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    const std::size_t size_a = part_.buffers[a].size;
    const std::size_t size_b = part_.buffers[b].size;
    return size_a != size_b ? size_a > size_b : a < b;
  };
  switch (random(3)) {
    case 0:  // any order; std::shuffle differs between libraries
      for (std::size_t i = victims_.size(); i > 1; --i) {
        std::swap(victims_[i - 1], victims_[random(i)]);
      }
      break;
    case 1: std::sort(victims_.begin(), victims_.end(), larger); break;
    default:  // the top one before all others
      std::sort(victims_.begin() + 1, victims_.end(), larger);
  }
  for (const std::uint32_t victim : victims_) {
    const PackedBuffer& buffer = part_.buffers[victim];
    const std::size_t offset = best_gap(buffer);
    if (offset + buffer.size > start_height_) return false;
    insert(victim, offset);
  }
  return true;
}

std::size_t RuinRecreate::best_gap(const PackedBuffer& buffer) const {
  std::size_t top = 0;
  std::size_t best = 0;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const Placed& p : placed_) {
    if (p.begin >= buffer.end || p.end <= buffer.begin) continue;
    if (p.offset > top) {
      const std::size_t gap = p.offset - top;
      const std::size_t start = round_up(top, buffer.alignment);
      if (gap < smallest && start + buffer.size <= p.offset) {
        if (gap == buffer.size) return start;
        smallest = gap;
        best = start;
      }
    }
    top = std::max(top, p.top);
  }
  const bool none = smallest == std::numeric_limits<std::size_t>::max();
  return none ? round_up(top, buffer.alignment) : best;
}

void RuinRecreate::insert(std::uint32_t buffer, std::size_t offset) {
  const PackedBuffer& b = part_.buffers[buffer];
  const auto at = std::upper_bound(placed_.begin(), placed_.end(), offset,
                                   [](std::size_t o, const Placed& p) { return o < p.offset; });
  placed_.insert(at, {b.begin, b.end, offset, offset + b.size, buffer});
}

}  // namespace arenagrad
