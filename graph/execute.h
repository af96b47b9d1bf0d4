// Interprets a program out of an arena. With a backend it computes; without one it is a dry run:
// the same walk, the same ledger.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "allocator/arena.h"
#include "graph/program.h"
#include "kernels/backend.h"

namespace arenagrad {

/// Where samples and labels come from. Step t reads samples t*N .. t*N + N - 1.
class Feed {
 public:
  virtual ~Feed() = default;
  /// Writes samples [first_sample, first_sample + batch of t) of `step` into `t`; the tensor is the
  /// tape's input `id`, samples in the run's floating type or labels as i64.
  virtual void write(const Tape& tape, TensorId id, std::int64_t step, std::int64_t batch,
                     std::int64_t first_sample, Backend& backend, Tensor t) = 0;
};

/// Deterministic standard-normal samples and uniform labels.
class NoiseFeed final : public Feed {
 public:
  explicit NoiseFeed(std::uint64_t seed) : seed_(seed) {}
  void write(const Tape& tape, TensorId id, std::int64_t step, std::int64_t batch,
             std::int64_t first_sample, Backend& backend, Tensor t) override;

 private:
  std::uint64_t seed_;
};

/// Tensors of a running program, for whoever watches it.
class RunAccess {
 public:
  virtual ~RunAccess() = default;
  virtual const Program& program() const = 0;
  virtual const Tape& tape() const = 0;
  virtual Backend& backend() = 0;
  /// A live buffer's view; ContractError when it is not live.
  virtual Tensor tensor(BufferId id) = 0;
};

/// Called by a real run; a dry run has no data to look at and calls none of them.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void after_setup(RunAccess&) {}
  virtual void after_exec(const Exec&, std::int64_t /*step*/, RunAccess&) {}
  /// All gradients of the step are complete: section.gradients can be read.
  virtual void gradients_ready(std::int64_t /*step*/, const Section&, RunAccess&) {}
  virtual void after_step(std::int64_t /*step*/, double /*loss*/, RunAccess&) {}
};

struct StepTimes {
  double forward = 0, backward = 0, update = 0, total = 0;  // seconds
};

struct RunResult {
  std::vector<double> losses;    // by step: sum of weight * loss; empty for a dry run
  std::vector<StepTimes> times;  // by step; empty for a dry run
};

/// Raised between two kernels, in a dry run between two rounds, once `interrupted` is set;
/// everything has been freed.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

struct ExecuteOptions {
  std::int64_t steps = 1;
  std::uint64_t seed = 0;
  Backend* backend = nullptr;  // null: a dry run
  Feed* feed = nullptr;        // needed with a backend
  Observer* observer = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
};

/// Runs setup, the steps and teardown. Checks while running that allocations are the program's, one
/// for one, that live bytes between steps are exactly the persistent ones, and that nothing is live
/// at the end. Throws OutOfMemory; whatever is thrown, all buffers have been freed.
RunResult execute(const Program& program, const Tape& tape, Arena& arena,
                  const ExecuteOptions& options);

}  // namespace arenagrad
