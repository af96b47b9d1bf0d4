#include "allocator/exact.h"

#include <algorithm>
#include <map>

#include "allocator/canonical.h"
#include "allocator/dives.h"
#include "allocator/incumbent.h"
#include "allocator/order_climb.h"
#include "allocator/step_meter.h"

namespace arenagrad {
namespace {

constexpr std::uint64_t kFirstEffort = 200'000;  // nodes on one capacity before it is left
constexpr std::uint64_t kFirstLength = 500;      // nodes of a thorough search
constexpr std::uint64_t kDiveShare = 8;          // nodes of dives for each of a thorough search

/// The attack on one part: which capacity next, and on each the two kinds of search in turn.
class Attack {
 public:
  explicit Attack(const Part& part) : dives_(part), thorough_(part), first_order_(part) {
    order_ = first_order_.propose(thorough_.blame());
  }

  /// Tries a capacity of `lowest` or more, under `height`, for a while.
  Outcome advance(std::size_t lowest, std::size_t height, StepMeter& meter) {
    capacity_ = next_capacity(lowest, height);
    for (std::uint64_t spent = 0; spent < effort_;) {
      const bool dive = dive_nodes_ < kDiveShare * thorough_nodes_;
      const Outcome outcome = dive ? this->dive(meter) : search_thoroughly(meter);
      if (outcome == Outcome::found) offsets_ = dive ? dives_.offsets() : thorough_.offsets();
      if (outcome != Outcome::undecided || meter.stopped()) return outcome;
      spent += dive ? dives_.nodes_used() : thorough_.nodes_used();
    }
    undecided_ = capacity_;
    return Outcome::undecided;
  }

  std::size_t capacity() const { return capacity_; }
  const std::vector<std::size_t>& offsets() const { return offsets_; }

 private:
  /// The lowest first; what is undecided after a fair effort is left for the middle between it and
  /// the height. When the two meet, again from the lowest with twice the effort.
  std::size_t next_capacity(std::size_t lowest, std::size_t height) {
    if (undecided_ == 0) return lowest;
    undecided_ = std::max(undecided_, lowest);
    if (undecided_ + 1 >= height) {
      undecided_ = 0;
      effort_ *= 2;
      return lowest;
    }
    return undecided_ + (height - undecided_) / 2;
  }

  Outcome dive(StepMeter& meter) {
    const Outcome outcome = dives_.dive(capacity_, meter);
    dive_nodes_ += dives_.nodes_used();
    return outcome;
  }

  /// Always the same order and twice as far each time, so that in the end all is seen.
  Outcome search_thoroughly(StepMeter& meter) {
    length_ *= 2;
    const Outcome outcome = thorough_.solve(capacity_, order_, 0, length_, meter);
    thorough_nodes_ += thorough_.nodes_used();
    return outcome;
  }

  Dives dives_;
  CanonicalSearch thorough_;  // one of its own: long failures say little about where to start
  OrderClimb first_order_;
  std::span<const std::uint32_t> order_;
  std::vector<std::size_t> offsets_;
  std::size_t capacity_ = 0;
  std::size_t undecided_ = 0;  // the highest capacity left open; 0: none
  std::uint64_t effort_ = kFirstEffort;
  std::uint64_t dive_nodes_ = 0, thorough_nodes_ = 0, length_ = kFirstLength;
};

}  // namespace

Solution solve_exact(std::span<const Lifetime> lifetimes, const Budget& budget,
                     const Watch& watch) {
  StepMeter meter(budget, watch);
  Incumbent incumbent(lifetimes);
  std::map<std::size_t, Attack> attacks;  // by part
  meter.found(incumbent.bytes());
  while (!meter.stopped()) {
    const auto part = incumbent.critical();
    if (!part) break;
    const Part& problem = incumbent.packing().parts[*part];
    if (problem.buffers.size() > CanonicalSearch::kMostBuffers) break;
    Attack& attack = attacks.try_emplace(*part, problem).first->second;
    const std::size_t lowest = incumbent.target(budget) - problem.base;
    switch (attack.advance(lowest, incumbent.part_height(*part), meter)) {
      case Outcome::found:
        incumbent.improve(*part, attack.offsets());
        meter.found(incumbent.bytes());
        break;
      case Outcome::impossible: incumbent.raise_bound(*part, attack.capacity() + 1); break;
      case Outcome::undecided: break;
    }
  }
  Solution solution = incumbent.solution();
  solution.truncated = meter.truncated();
  solution.steps_used = meter.used();
  return solution;
}

}  // namespace arenagrad
