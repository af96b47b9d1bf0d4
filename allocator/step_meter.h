// Spends a planner's budget.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "allocator/planner.h"

namespace arenagrad {

class StepMeter {
 public:
  StepMeter(const Budget& budget, const Watch& watch)
      : budget_(budget), watch_(watch), start_(std::chrono::steady_clock::now()) {}

  /// What one step costs on a problem of that many buffers.
  static std::uint64_t cost(std::size_t buffers) { return 1 + buffers / 1024; }

  /// Counts `cost` steps. False once the budget is spent: stop then.
  bool step(std::uint64_t cost) {
    if (stopped_ || budget_.steps - used_ < cost) {
      stopped_ = true;
      return false;
    }
    used_ += cost;
    // Looking at the clock costs as much as a step.
    if (used_ >= next_look_) look();
    return !stopped_;
  }

  /// A plan of that height, in bytes.
  void found(std::size_t height) {
    best_ = height;
    if (height <= budget_.enough) stopped_ = true;
  }

  bool stopped() const { return stopped_; }
  bool truncated() const { return truncated_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t left() const { return stopped_ ? 0 : budget_.steps - used_; }

 private:
  void look() {
    next_look_ = used_ + kLookEvery;
    if (watch_.progress && used_ >= next_report_) {
      watch_.progress(used_, best_);
      next_report_ = used_ + kReportEvery;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const bool late = budget_.seconds && elapsed.count() >= *budget_.seconds;
    const bool interrupted = watch_.interrupt != nullptr && watch_.interrupt->load();
    if (late || interrupted) stopped_ = truncated_ = true;
  }

  static constexpr std::uint64_t kLookEvery = 256;
  static constexpr std::uint64_t kReportEvery = std::uint64_t{1} << 14;

  const Budget& budget_;
  const Watch& watch_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t used_ = 0, next_look_ = kLookEvery, next_report_ = kReportEvery;
  std::size_t best_ = 0;
  bool stopped_ = false, truncated_ = false;
};

}  // namespace arenagrad
