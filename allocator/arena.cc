#include "allocator/arena.h"

#include <cstring>

namespace arenagrad {

Arena::Arena(Driver& driver, Ledger& ledger, const StrategyInfo& strategy, std::size_t alignment,
             std::span<const Lifetime> lifetimes)
    : driver_(driver), ledger_(ledger), alignment_(alignment) {
  check_contract(alignment > 0 && (alignment & (alignment - 1)) == 0,
                 "an arena's alignment is a power of two");
  check_contract(driver.reserved() == 0, "an arena needs a driver of its own");
  driver_.on_call([&ledger](DriverCall call, std::size_t offset, std::size_t bytes) {
    ledger.driver_called(call, offset, bytes);
  });
  strategy_ = strategy.make(StrategyContext{driver, alignment, lifetimes});
}

Arena::~Arena() { driver_.on_call(nullptr); }

Placement Arena::allocate(const Request& request) {
  const Placement placement = [&] {
    try {
      return strategy_->place(request);
    } catch (const OutOfMemory& error) {
      Refusal refusal = error;
      refusal.live = ledger_.totals().live;
      refusal.live_buffers = ledger_.live_now();
      throw OutOfMemory(refusal);
    }
  }();
  ledger_.allocated(request, placement, strategy_->usage());
  if (fill_ && base() != nullptr) {
    std::memset(base() + placement.offset, std::to_integer<int>(*fill_), placement.granted);
  }
  return placement;
}

void Arena::free(BufferId id) {
  strategy_->release(id);
  ledger_.freed(id, strategy_->usage());
}

}  // namespace arenagrad
