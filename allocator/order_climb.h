// Learns in which order a canonical search should try the buffers of one part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "allocator/packing.h"

namespace arenagrad {

/// A climb over orders: short searches say how much of the part an order gets into place before it
/// fails, and which sections fail. Orders start from lifetimes and areas, distorted towards the
/// buffers of failing sections; small changes are kept while they are no worse, and a climb that no
/// longer gets anywhere is given up for a new start.
class OrderClimb {
 public:
  explicit OrderClimb(const Part& part);

  /// The next order to try. `blame` is the search's, by buffer.
  std::span<const std::uint32_t> propose(std::span<const double> blame);
  /// How bold to be with it: each climb keeps to one boldness, and they take turns.
  double boldness() const;
  /// How much of the part the search had in place at best with the order proposed last.
  void judge(double cover);
  /// What comes next is not to be compared with what was: the capacity has changed.
  void judge_anew() { best_cover_ = 0; }

 private:
  void start(std::span<const double> blame);
  void vary(std::span<const double> blame);
  double random();
  double bell();

  const Part& part_;
  std::mt19937 random_;
  std::vector<std::size_t> crowds_;           // by buffer: the largest total it lives in
  std::vector<double> places_, best_places_;  // by buffer: 0 to 1, in the order lowest first
  std::vector<std::uint32_t> order_;
  double best_cover_ = 0;
  std::uint32_t starts_ = 0;
  std::uint32_t stalled_ = 0;
  bool fresh_ = true;
};

}  // namespace arenagrad
