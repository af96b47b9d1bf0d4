#include "allocator/search.h"

#include <algorithm>
#include <map>
#include <optional>

#include "allocator/dives.h"
#include "allocator/incumbent.h"
#include "allocator/ruin_recreate.h"
#include "allocator/step_meter.h"

namespace arenagrad {
namespace {

constexpr int kDives = 50;                    // on one capacity
constexpr int kTries = 100;                   // of a climb in a row
constexpr std::uint64_t kHeadStart = 20'000;  // steps of dives before the climb gets its share
constexpr std::size_t kNear = 1000;           // a thousandth of the bound is near enough

/// One part: short canonical searches close in on the lowest capacity that they reach, the bound
/// before all others; in turn with them a climb goes on from the lowest plan.
class PartSearch {
 public:
  PartSearch(const Part& part, std::size_t target)
      : part_(part), target_(target), missed_(target), capacity_(target) {
    if (part.buffers.size() <= CanonicalSearch::kMostBuffers) dives_.emplace(part);
  }

  /// A little work on a plan of that height. True if there is a lower one now.
  bool advance(const std::vector<std::size_t>& start, std::size_t height, StepMeter& meter) {
    const std::uint64_t before = meter.used();
    const bool diving = dives_ && capacity_ < height && dive_steps_ <= climb_steps_ + kHeadStart;
    const bool lower = diving ? dive(height, meter) : climb(start, height, meter);
    (diving ? dive_steps_ : climb_steps_) += meter.used() - before;
    return lower;
  }

  const std::vector<std::size_t>& offsets() const { return found_; }

 private:
  bool dive(std::size_t height, StepMeter& meter) {
    const bool found = dives_->dive(capacity_, meter) == Outcome::found;
    if (!found && ++tried_ < kDives) return false;
    tried_ = 0;
    if (found) {
      found_ = dives_->offsets();
      height = height_of(part_, found_);
      climb_.reset();
    } else {
      missed_ = capacity_;
    }
    capacity_ = missed_ + std::max(1 + target_ / kNear, (height - missed_) / 2);
    return found;
  }

  bool climb(const std::vector<std::size_t>& start, std::size_t height, StepMeter& meter) {
    if (!climb_) climb_.emplace(part_, start, target_);
    const std::uint64_t cost = StepMeter::cost(part_.buffers.size());
    for (int i = 0; i < kTries && climb_->height() == height && meter.step(cost); ++i) {
      climb_->iterate();
    }
    found_ = climb_->offsets();
    return climb_->height() < height;
  }

  const Part& part_;
  const std::size_t target_;
  std::optional<Dives> dives_;
  std::size_t missed_;    // in vain so far
  std::size_t capacity_;  // of the next dive
  int tried_ = 0;         // dives on it
  std::optional<RuinRecreate> climb_;
  std::uint64_t dive_steps_ = 0, climb_steps_ = 0;
  std::vector<std::size_t> found_;
};

}  // namespace

Solution solve_search(std::span<const Lifetime> lifetimes, const Budget& budget,
                      const Watch& watch) {
  StepMeter meter(budget, watch);
  Incumbent incumbent(lifetimes);
  const std::size_t target = incumbent.target(budget);
  std::map<std::size_t, PartSearch> searches;  // by part
  meter.found(incumbent.bytes());
  while (!meter.stopped()) {
    const auto part = incumbent.critical();
    if (!part) break;
    const Part& problem = incumbent.packing().parts[*part];
    PartSearch& search = searches.try_emplace(*part, problem, target - problem.base).first->second;
    if (search.advance(incumbent.offsets(*part), incumbent.part_height(*part), meter)) {
      incumbent.improve(*part, search.offsets());
      meter.found(incumbent.bytes());
    }
  }
  Solution solution = incumbent.solution();
  solution.truncated = meter.truncated();
  solution.steps_used = meter.used();
  return solution;
}

}  // namespace arenagrad
