// Which way a network went: the branch each ReLU took and the place each max-pool chose, for every
// sample of a step. Two runs that differ here sit on different sides of a kink, and their gradients
// differ for that reason rather than by rounding.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/execute.h"

namespace arenagrad {

/// Kept small: a bit per ReLU output (two for relu6), a byte (or four) per max-pool output.
class Branches {
 public:
  /// Looks at the output or the index that a node's forward has just written. Nodes without
  /// branches are passed over.
  void record(const Exec& exec, RunAccess& access);

  /// Choices that differ, over all nodes that both have seen.
  std::uint64_t flips(const Branches& other) const;
  std::size_t bytes() const;
  /// Nothing more will be recorded: gives scratch memory back.
  void finish() { std::vector<std::byte>().swap(scratch_); }
  /// Most bytes that recording a step of `batch` samples will come to.
  static std::size_t bytes_for(const Tape& tape, std::int64_t batch);

 private:
  /// One node's choices for the whole step's batch; sample s of the step is entries
  /// [s * per_sample, (s + 1) * per_sample).
  struct Choices {
    int bits = 0;  // per entry: 1, 2, 8 or 32
    std::int64_t per_sample = 0;
    std::vector<std::uint64_t> words;
    void set(std::int64_t entry, std::uint64_t value);
  };
  Choices& choices(const Exec& exec, int bits, std::int64_t per_sample, std::int64_t batch);
  template <class T>
  void record_relu(Choices& to, const Exec& exec, ConstTensor output, bool has_ceiling);
  template <class T>
  void record_pool(Choices& to, const Exec& exec, ConstTensor index);

  std::map<NodeId, Choices> nodes_;
  std::vector<std::byte> scratch_;  // a copy of the tensor being looked at
};

}  // namespace arenagrad
