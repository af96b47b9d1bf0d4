// The allocations and frees that a program will make, one by one: what a ledger is told to expect.
// It walks the program on its own, so that it checks the executor instead of repeating it.
#pragma once

#include <cstdint>
#include <optional>

#include "allocator/ledger.h"
#include "graph/program.h"

namespace arenagrad {

class EventStream {
 public:
  EventStream(const Program& program, std::int64_t steps) : program_(program), steps_(steps) {}
  /// The next event (kind, buffer, requested bytes); nothing at the end.
  std::optional<Event> next();
  /// Of the event that `next` gave last: 0 in setup, 1 in the first step ...; beyond the last step
  /// in teardown.
  std::int64_t steps_begun() const { return part_; }

 private:
  const Section* section() const;

  const Program& program_;
  std::int64_t steps_;
  std::int64_t part_ = 0;  // 0 setup, 1 .. steps, then teardown
  std::size_t at_ = 0;
  std::int64_t rounds_left_ = -1;  // of the repeat we are in; -1: in none
};

}  // namespace arenagrad
