#include "allocator/planned.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "allocator/growing_range.h"
#include "allocator/live_table.h"

namespace arenagrad {
namespace {

class Planned final : public AllocationStrategy {
 public:
  Planned(const StrategyContext& context, const Plan& plan)
      : range_(context.driver, plan.height), height_(plan.height) {
    check_contract(plan.offsets.size() == context.lifetimes.size(), "a plan for other lifetimes");
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      const Lifetime& lifetime = context.lifetimes[i];
      if (index(lifetime.id) >= slots_.size()) slots_.resize(index(lifetime.id) + 1);
      Slot& slot = slots_[index(lifetime.id)];
      check_contract(slot.bytes == 0, "a buffer with two lifetimes in one plan");
      slot = {plan.offsets[i], lifetime.bytes, lifetime.alignment};
    }
  }

  Placement place(const Request& request) override {
    const Slot& slot = slot_of(request);
    live_.check_new(request, slot.alignment);
    const std::size_t granted = round_up(slot.bytes, slot.alignment);
    if (!range_.grow_to(height_)) {
      throw OutOfMemory(
          {request, granted, usage(), largest_hole(), height_, range_.driver().capacity()});
    }
    const std::size_t end = slot.offset + granted;
    const auto above = spans_.lower_bound(slot.offset);
    const bool fits_below = above == spans_.begin() || std::prev(above)->second <= slot.offset;
    const bool fits_above = above == spans_.end() || above->first >= end;
    if (!fits_below || !fits_above || end > height_) {
      throw ContractError("the plan puts buffer " + std::to_string(index(request.id)) + " at [" +
                          std::to_string(slot.offset) + ", " + std::to_string(end) + "), where " +
                          (end > height_ ? "the plan ends" : "another one is live"));
    }
    spans_.emplace_hint(above, slot.offset, end);
    const Placement placement{range_.base() + slot.offset, granted};
    live_.add(request.id, placement);
    footprint_ = std::max(footprint_, end);
    return placement;
  }

  void release(BufferId id) override { spans_.erase(live_.remove(id).offset - range_.base()); }

  Usage usage() const override {
    return {footprint_, range_.driver().reserved(), footprint_ - live_.granted()};
  }

  std::size_t largest_hole() const override {
    std::size_t largest = 0;
    std::size_t below = 0;
    for (const auto& [begin, end] : spans_) {
      largest = std::max(largest, begin - below);
      below = end;
    }
    return std::max(largest, footprint_ - below);
  }

  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), footprint_);
  }

 private:
  struct Slot {
    std::size_t offset = 0, bytes = 0, alignment = 1;  // bytes 0: not in the plan
  };

  const Slot& slot_of(const Request& request) const {
    const std::size_t id = index(request.id);
    const std::size_t planned = id < slots_.size() ? slots_[id].bytes : 0;
    if (planned != request.bytes) {
      throw ContractError("a request off the plan: buffer " + std::to_string(id) + ", expected " +
                          (planned == 0 ? "none" : std::to_string(planned) + " bytes") + ", got " +
                          std::to_string(request.bytes) + " bytes");
    }
    check_contract(planned > 0, "a request of 0 bytes");
    return slots_[id];
  }

  GrowingRange range_;
  std::size_t height_;
  std::vector<Slot> slots_;                   // by buffer id
  std::map<std::size_t, std::size_t> spans_;  // live, begin to end, within the range
  LiveTable live_;
  std::size_t footprint_ = 0;  // top of what has been live
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_planned(const StrategyContext& context, const Plan& plan) {
  return std::make_unique<Planned>(context, plan);
}

}  // namespace arenagrad
