// Runs the shared bodies on a GPU. The class; its templates are in launch.h, so that whoever uses
// the backend needs neither CUDA's headers nor its compiler.
#pragma once

#include <cstdint>

#include "kernels/bodies/layout.h"

struct CUstream_st;

namespace arenagrad::cuda {

class Executor {
 public:
  static constexpr int kStrip = 1;
  using Planes = bodies::PlanesInterleaved;
  using Order = bodies::ChannelsInnermost;

  /// The stream outlives the executor; everything runs on it, in order.
  explicit Executor(CUstream_st* stream) : stream_(stream) {}

  /// Throw DeviceError when a launch is refused. Nothing waits.
  template <class Body>
  void for_each(std::int64_t n, const Body& body, std::int64_t elements = 1) const;
  template <class Body>
  void for_grid(std::int64_t rows, std::int64_t columns, const Body& body,
                std::int64_t elements = 1) const;
  template <class Body>
  void reduce_rows(std::int64_t rows, std::int64_t columns, const Body& body) const;
  /// The same for few long rows, which would keep few warps busy: a block takes a row, the first
  /// step of the tree is kWideBlock lanes wide.
  template <class Body>
  void reduce_long_rows(std::int64_t rows, std::int64_t columns, const Body& body) const;

  CUstream_st* stream() const { return stream_; }

 private:
  CUstream_st* stream_;
};

}  // namespace arenagrad::cuda
