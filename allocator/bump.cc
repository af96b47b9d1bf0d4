// Never reuses: each request goes on top of all before it. The upper bound of every comparison.
#include "allocator/growing_range.h"
#include "allocator/live_table.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

class Bump final : public AllocationStrategy {
 public:
  explicit Bump(const StrategyContext& context)
      : alignment_(context.alignment), range_(context.driver, context.driver.capacity()) {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t granted = round_up(request.bytes, alignment_);
    if (!range_.grow_to(top_ + granted)) {
      throw OutOfMemory(
          {request, granted, usage(), largest_hole(), top_ + granted, range_.driver().capacity()});
    }
    const Placement placement{range_.base() + top_, granted};
    live_.add(request.id, placement);
    top_ += granted;
    return placement;
  }

  void release(BufferId id) override { dead_ += live_.remove(id).granted; }

  Usage usage() const override { return {top_, range_.driver().reserved(), dead_}; }

  // What is dead is never used again.
  std::size_t largest_hole() const override { return 0; }

  // The top moves with every placement: only rounds that allocate nothing repeat themselves.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), top_);
  }

 private:
  std::size_t alignment_;
  GrowingRange range_;
  LiveTable live_;
  std::size_t top_ = 0;   // bytes of the range used so far
  std::size_t dead_ = 0;  // bytes below the top that were released
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_bump(const StrategyContext& context) {
  return std::make_unique<Bump>(context);
}

}  // namespace arenagrad
