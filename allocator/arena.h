// Memory taken from a driver, cut up by a strategy, written down in a ledger.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "allocator/ledger.h"
#include "allocator/strategy.h"

namespace arenagrad {

class Arena {
 public:
  /// The arena refers to the driver and ledger, which outlive it, and owns the strategy.
  Arena(Driver& driver, Ledger& ledger, const StrategyInfo& strategy, std::size_t alignment,
        std::span<const Lifetime> lifetimes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Throws OutOfMemory with the live bytes by category; nothing has been recorded then.
  Placement allocate(const Request& request);
  void free(BufferId id);

  /// Bytes written over a buffer's whole grant when it is allocated, to catch reads of what was
  /// never written. Host memory only.
  void fill_new_memory_with(std::optional<std::byte> pattern) { fill_ = pattern; }

  /// Null in a dry run. Offsets count from here.
  std::byte* base() const { return driver_.base(); }
  /// Of a live placement, in a real run.
  std::byte* at(const Placement& placement) const { return driver_.at(placement.offset); }
  Ledger& ledger() { return ledger_; }
  const AllocationStrategy& strategy() const { return *strategy_; }
  std::size_t alignment() const { return alignment_; }

 private:
  Driver& driver_;
  Ledger& ledger_;
  std::size_t alignment_;
  std::unique_ptr<AllocationStrategy> strategy_;
  std::optional<std::byte> fill_;
};

}  // namespace arenagrad
