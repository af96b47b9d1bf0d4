// cudaMallocAsync as a strategy: every buffer lies by itself, wherever the device's pool puts it.
//
// A buffer's range of offsets is its name towards the driver, not its place: reserved when the
// buffer is first asked for, committed while it lives. Rounds that are alike make the same calls.
#include <map>

#include "allocator/live_table.h"
#include "allocator/strategy.h"

namespace arenagrad {
namespace {

class PoolAsync final : public AllocationStrategy {
 public:
  explicit PoolAsync(Driver& driver) : driver_(driver) {
    check_contract(driver.granule() == 1, "a pool's driver has no granule");
  }

  Placement place(const Request& request) override {
    auto range = ranges_.find(request.id);
    if (range == ranges_.end())
      range =
          ranges_.emplace(request.id, Range{driver_.reserve(request.bytes), request.bytes}).first;
    check_contract(range->second.bytes == request.bytes, "a buffer's size does not change");
    if (!driver_.commit(range->second.offset, request.bytes))
      throw OutOfMemory(Refusal{.request = request,
                                .granted = request.bytes,
                                .usage = usage(),
                                .largest_hole = 0,
                                .needed = driver_.reserved() + request.bytes,
                                .capacity = driver_.capacity()});
    return {range->second.offset, request.bytes};
  }

  void release(BufferId id) override {
    const auto range = ranges_.find(id);
    check_contract(range != ranges_.end(), "a buffer is released that was never placed");
    driver_.decommit(range->second.offset, range->second.bytes);
  }

  /// Of the requests: what the pool makes of them, it alone knows.
  Usage usage() const override { return {driver_.reserved(), driver_.reserved(), 0}; }
  std::size_t largest_hole() const override { return 0; }

  /// Ranges are never given up: as many of them are the same ones.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(ranges_.size(), driver_.reserved());
  }

 private:
  struct Range {
    std::size_t offset, bytes;
  };

  Driver& driver_;
  std::map<BufferId, Range> ranges_;
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_pool_async(const StrategyContext& context) {
  return std::make_unique<PoolAsync>(context.driver);
}

}  // namespace arenagrad
