// What a trace adds up to: the sums that a ledger would keep.
#pragma once

#include <unordered_map>

#include "allocator/traces/trace.h"

namespace arenagrad {

class TraceTotals final : public TraceSink {
 public:
  void begin(const TraceHeader& header) override { header_ = header; }
  void event(const TraceEvent& event) override;
  void end() override {}

  const TraceHeader& header() const { return header_; }
  std::uint64_t events = 0, allocations = 0, frees = 0, refusals = 0, driver_calls = 0;
  std::size_t live_bytes = 0;  // requested
  std::size_t live = 0;        // buffers
  std::size_t peak_bytes = 0;
  CategoryBytes at_peak{};        // where `peak_bytes` was first reached
  std::size_t other_at_peak = 0;  // of buffers without a category

 private:
  struct Life {
    std::size_t bytes;
    std::optional<Category> category;
  };
  TraceHeader header_;
  std::unordered_map<std::uint64_t, Life> lives_;
  CategoryBytes by_category_{};
  std::size_t other_ = 0;
};

}  // namespace arenagrad
