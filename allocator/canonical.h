// Decides whether a part fits under a height: depth-first over supported plans, lowest buffers
// first.
//
// Of all plans that fit, look at one with the least sum of offsets: no buffer of it can move down.
// Each buffer has a support, the lowest offset that what is placed already allows, and a floor, a
// proven lower bound of its offset. The buffer with the lowest support is either placed there, and
// all that conflict with it are raised to its top; or it waits. A waiting buffer ends higher than
// its support only because another one, placed later, cuts into the bytes it could have had: so its
// floor is the lowest top of those that can still do so, and a branch without any is dead. In each
// section what is unplaced lies one above the other: if those with a floor of f or more together
// pass the capacity less f, for any f, the branch is dead. Where no unplaced buffer bridges two
// stretches of time they are decided one by one. Any buffer may be decided on next that nothing
// unplaced can go below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/packing.h"
#include "allocator/step_meter.h"

namespace arenagrad {

enum class Outcome {
  found,
  impossible,  // proven: nothing fits under that height
  undecided,   // out of nodes or of budget
};

class CanonicalSearch {
 public:
  /// Lists are of 16 bits, and the recursion is two frames a buffer.
  static constexpr std::size_t kMostBuffers = 8192;

  /// The part outlives this and has at most kMostBuffers.
  explicit CanonicalSearch(const Part& part);

  /// `order` says which of two buffers with one support is tried first; any permutation. With
  /// `boldness` above 0 a buffer that is to blame is tried before lower ones, up to that share of
  /// the capacity lower, where nothing can go below it any more. Each of at most `nodes` nodes is
  /// charged to the meter.
  Outcome solve(std::size_t capacity, std::span<const std::uint32_t> order, double boldness,
                std::uint64_t nodes, StepMeter& meter);

  /// Of the last call that found one.
  const std::vector<std::size_t>& offsets() const { return offsets_; }

  std::uint64_t nodes_used() const { return nodes_; }  // by the last call
  /// The most of the part, in sections times units, that the last call had in place at one time.
  double best_cover() const { return best_cover_; }
  /// By buffer, 0 to 1: how often the worst of its sections was the one that did not fit, over all
  /// calls, older ones counting less.
  std::span<const double> blame() const { return blame_; }

 private:
  using Index = std::uint16_t;
  struct State {
    std::size_t support = 0, floor = 0;
    bool waits() const { return floor > support; }
  };
  struct Undo {
    Index buffer;
    State state;
  };
  /// Unplaced buffers by (floor, rank), a range of lists_.
  struct List {
    std::size_t at, size;
  };

  enum class Raise { none, moved, dead };

  // The tree.
  Outcome descend(List list);
  Outcome place(List list, Index buffer);
  Outcome split(List list, const PackedBuffer& placed);
  bool wait(List& list, Index buffer, std::size_t own_from);

  // What can be said without trying.
  std::optional<Index> pick(List list) const;
  Raise raise_to_hit(List list, std::size_t i);
  double score(Index buffer) const {
    return static_cast<double>(states_[buffer].floor) - bias_ * blame_[buffer];
  }
  bool fits(List list, std::uint32_t begin, std::uint32_t end);
  template <typename Sum>
  bool fits_in(std::vector<Sum>& sums, List list, std::uint32_t begin, std::uint32_t end);
  std::size_t lowest_hit(List list, Index buffer) const;

  bool before(Index a, Index b) const {
    const std::size_t floor_a = states_[a].floor;
    const std::size_t floor_b = states_[b].floor;
    return floor_a != floor_b ? floor_a < floor_b : rank_[a] < rank_[b];
  }
  void update_blame();

  void set(Index buffer, State state);
  void rewind(std::size_t trail);
  void mark_placed(const PackedBuffer& buffer);
  void unmark_placed(const PackedBuffer& buffer);

  const Part& part_;
  std::uint64_t cost_;          // of a node
  StepMeter* meter_ = nullptr;  // during solve()
  std::size_t capacity_ = 0;
  double bias_ = 0;  // boldness in units
  std::uint64_t nodes_ = 0, most_nodes_ = 0;
  double cover_ = 0, best_cover_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<State> states_;           // by buffer
  std::vector<std::uint32_t> rank_;     // by buffer
  std::vector<std::uint32_t> bridges_;  // by section: unplaced that live on into the next one
  std::vector<Undo> trail_;
  std::vector<Index> lists_;
  std::vector<Index> raised_;  // scratch
  // Scratch of fits(), by section: the narrowest that holds the largest total is the one in use.
  std::vector<std::int16_t> sums16_;
  std::vector<std::int32_t> sums32_;
  std::vector<std::int64_t> sums64_;
  std::vector<double> failures_;  // by section
  std::vector<double> blame_;
};

}  // namespace arenagrad
