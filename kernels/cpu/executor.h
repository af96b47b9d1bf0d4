// Runs the shared bodies on the CPU. The class; its templates are defined in run_bodies.h, so that
// whoever uses the backend needs no OpenMP.
#pragma once

#include <cstdint>

#include "kernels/bodies/layout.h"

namespace arenagrad::cpu {

class Executor {
 public:
  static constexpr int kStrip = 64;
  using Planes = bodies::PlanesApart;
  using Order = bodies::InOrder;

  explicit Executor(int threads) : threads_(threads) {}
  int threads() const { return threads_; }

  template <class Body>
  void for_each(std::int64_t n, const Body& body, std::int64_t elements = 1) const;
  template <class Body>
  void for_grid(std::int64_t rows, std::int64_t columns, const Body& body,
                std::int64_t elements = 1) const;
  template <class Body>
  void reduce_rows(std::int64_t rows, std::int64_t columns, const Body& body) const;

 private:
  int threads_;
};

}  // namespace arenagrad::cpu
