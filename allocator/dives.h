// Short canonical searches that learn from one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/canonical.h"
#include "allocator/order_climb.h"
#include "allocator/step_meter.h"

namespace arenagrad {

class Dives {
 public:
  /// The part outlives this and has at most CanonicalSearch::kMostBuffers.
  explicit Dives(const Part& part) : part_(part), search_(part), orders_(part) {}

  /// A plan is within reach of an order if it takes little more than placing every buffer once.
  Outcome dive(std::size_t capacity, StepMeter& meter) {
    if (capacity != capacity_) orders_.judge_anew();
    capacity_ = capacity;
    const std::span<const std::uint32_t> order = orders_.propose(search_.blame());
    const std::uint64_t nodes = part_.buffers.size() + kBacktracks;
    const Outcome outcome = search_.solve(capacity, order, orders_.boldness(), nodes, meter);
    orders_.judge(search_.best_cover());
    return outcome;
  }

  /// Of the last call.
  std::uint64_t nodes_used() const { return search_.nodes_used(); }
  /// Of the last call that found a plan.
  const std::vector<std::size_t>& offsets() const { return search_.offsets(); }

 private:
  static constexpr std::uint64_t kBacktracks = 300;

  const Part& part_;
  CanonicalSearch search_;
  OrderClimb orders_;
  std::size_t capacity_ = 0;  // of the last dive
};

}  // namespace arenagrad
