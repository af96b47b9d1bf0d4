#include "allocator/planned.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "allocator/fit_rule.h"
#include "allocator/growing_heap.h"
#include "allocator/live_table.h"

namespace arenagrad {
namespace {

class Planned final : public AllocationStrategy {
 public:
  Planned(const StrategyContext& context, const Plan& plan)
      : driver_(context.driver),
        alignment_(context.alignment),
        height_(plan.height),
        heap_(context,
              std::max(plan.height, std::min(driver_.capacity(), driver_.longest_range()))) {
    const std::string problem = validate(context.lifetimes, plan);
    if (!problem.empty()) throw ContractError("a plan that is none: " + problem);
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      const Lifetime& lifetime = context.lifetimes[i];
      if (index(lifetime.id) >= slots_.size()) slots_.resize(index(lifetime.id) + 1);
      Slot& slot = slots_[index(lifetime.id)];
      check_contract(slot.bytes == 0, "a buffer with two lifetimes in one plan");
      slot = {plan.offsets[i], lifetime.bytes, lifetime.alignment};
    }
  }

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const Slot slot = index(request.id) < slots_.size() ? slots_[index(request.id)] : Slot{};
    const bool planned = slot.bytes == request.bytes && slot.alignment % request.alignment == 0;
    const std::size_t granted = round_up(request.bytes, planned ? slot.alignment : alignment_);
    if (!heap_.provide(height_)) refuse(request, granted, height_);
    const std::size_t end = slot.offset + granted;
    const auto above = spans_.lower_bound(slot.offset);
    const bool below_ends = above == spans_.begin() || std::prev(above)->second <= slot.offset;
    if (!planned || !below_ends || (above != spans_.end() && above->first < end)) {
      return fall_back(request);
    }
    spans_.emplace_hint(above, slot.offset, end);
    top_ = std::max(top_, end);
    const Placement placement{heap_.base() + slot.offset, granted};
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    const std::size_t offset = live_.remove(id).offset;
    if (const auto found = fallen_back_.find(id); found != fallen_back_.end()) {
      heap_.give_back(found->second);
      fallen_back_.erase(found);
    } else {
      spans_.erase(offset - heap_.base());
    }
  }

  Usage usage() const override {
    return {footprint(), driver_.reserved(), footprint() - live_.granted()};
  }

  std::size_t largest_hole() const override {
    std::size_t largest = heap_.largest_hole();
    std::size_t below = 0;
    for (const auto& [begin, end] : spans_) {
      largest = std::max(largest, begin - below);
      below = end;
    }
    return std::max(largest, (departed() ? height_ : top_) - below);
  }

  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), LiveTable::mix(top_, heap_.hash()));
  }

 private:
  struct Slot {
    std::size_t offset = 0, bytes = 0, alignment = 1;  // bytes 0: not in the plan
  };

  /// The plan is the heap's first block, which never ends.
  Placement fall_back(const Request& request) {
    const std::size_t granted = round_up(request.bytes, alignment_);
    const std::size_t plan = round_up(height_, alignment_);
    // Refused as a whole, so that the plan's block alone is never taken.
    if (!departed() && !heap_.provide(plan + granted)) refuse(request, granted, plan + granted);
    if (!departed() && plan > 0) heap_.take(plan);
    const std::uint32_t block = heap_.take(granted);
    if (block == kNoBlock) refuse(request, granted, heap_.tail() + granted);
    fallen_back_.emplace(request.id, block);
    const Placement placement = heap_.placement(block);
    live_.add(request.id, placement);
    return placement;
  }

  [[noreturn]] void refuse(const Request& request, std::size_t granted, std::size_t needed) const {
    throw OutOfMemory({request, granted, usage(), largest_hole(), needed, driver_.capacity()});
  }

  bool departed() const { return heap_.footprint() > 0; }
  std::size_t footprint() const { return departed() ? heap_.footprint() : top_; }

  const Driver& driver_;
  std::size_t alignment_;
  std::size_t height_;
  GrowingHeap<FitRule<Fit::best>> heap_;           // all memory; blocks in it are for what departs
  std::vector<Slot> slots_;                        // by buffer id
  std::map<std::size_t, std::size_t> spans_;       // live in the plan, begin to end
  std::map<BufferId, std::uint32_t> fallen_back_;  // live above the plan, its block
  LiveTable live_;
  std::size_t top_ = 0;  // of what has been live in the plan
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_planned(const StrategyContext& context, const Plan& plan) {
  return std::make_unique<Planned>(context, plan);
}

}  // namespace arenagrad
