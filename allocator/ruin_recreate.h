// Hill climbing over plans: take out a top buffer and a few around it, put them back another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "allocator/packing.h"

namespace arenagrad {

/// The state of a climb on one part. A pure function of the part, the start and the steps taken.
class RuinRecreate {
 public:
  /// The part outlives this. `offsets` are a plan to start from, higher than `target`; what ends at
  /// or below the target is as good as it need be.
  RuinRecreate(const Part& part, const std::vector<std::size_t>& offsets, std::size_t target);

  /// One try. Late acceptance: it is kept if the plan is no worse than now or than it was some
  /// tries ago, so that the climb gets over small hills and settles in the end.
  void iterate();

  /// Of the lowest plan so far.
  std::size_t height() const { return best_height_; }
  const std::vector<std::size_t>& offsets() const { return best_; }

 private:
  struct Placed {
    std::uint32_t begin, end;
    std::size_t offset, top;
    std::uint32_t buffer;
  };
  /// How far the tops are above the target, high ones counting far more: it falls when any of
  /// several peaks does.
  struct Score {
    double excess = 0;
    std::size_t height = 0;
  };

  Score score() const;
  std::size_t random(std::size_t below) { return random_() % below; }
  void choose_peak();
  void collect(const PackedBuffer& centre);
  void choose_victims();
  void take_out();
  bool put_back();
  std::size_t best_gap(const PackedBuffer& buffer) const;
  void insert(std::uint32_t buffer, std::size_t offset);

  const Part& part_;
  const std::size_t target_;
  std::mt19937 random_;
  std::vector<Placed> placed_, before_;  // by offset
  Score score_;                          // of placed_
  std::vector<double> history_;          // the excess at the last so many tries, in a ring
  std::uint64_t tries_ = 0;
  std::size_t start_height_ = 0, best_height_ = 0;
  std::vector<std::size_t> best_;
  std::vector<std::uint32_t> victims_, neighbours_;  // scratch
  std::vector<bool> chosen_;                         // scratch
};

}  // namespace arenagrad
