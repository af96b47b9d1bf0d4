// Where elements lie, for bodies that run on either layout (kernels/tensor.h). An executor says
// with two types what its device has: `Planes` and `Order`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/bodies/host_device.h"
#include "kernels/tensor.h"

namespace arenagrad::bodies {

/// Planes one after the other, as in NCHW; the compiler sees the number. A device that has this has
/// no NHWC.
struct PlanesApart {
  static constexpr std::int64_t count = 1;
};

/// `count` planes interleaved, element by element: all channels of a sample in NHWC, 1 in NCHW.
struct PlanesInterleaved {
  std::int64_t count;
};

/// A device without NHWC: an element's number is its place.
struct InOrder {
  ARENAGRAD_HD std::int64_t operator()(std::int64_t i) const { return i; }
};

/// The place of element number `i` in the order of the shape, in memory with `channels` innermost.
struct ChannelsInnermost {
  std::int64_t channels, spatial;
  ARENAGRAD_HD std::int64_t operator()(std::int64_t i) const {
    if (channels == 1 || spatial == 1) return i;
    const std::int64_t sample = i / (channels * spatial);
    const std::int64_t in_sample = i - sample * channels * spatial;
    const std::int64_t channel = in_sample / spatial;
    return (sample * spatial + in_sample - channel * spatial) * channels + channel;
  }
};

/// Elements of a plane of an image, or of a tensor [samples, channels, ...].
inline std::int64_t spatial_of(const ConstTensor& t) {
  const std::int64_t planes = t.shape[0] * t.shape[1];
  return planes == 0 ? 0 : t.shape.elements() / planes;
}

template <class Planes>
Planes planes_of(const ConstTensor& t) {
  if constexpr (std::is_empty_v<Planes>) {
    check_contract(!t.channels_last(), "this device has no NHWC");
    return {};
  } else {
    return {t.channels_last() ? t.shape[1] : 1};
  }
}

template <class Order>
Order order_of(const ConstTensor& t) {
  if constexpr (std::is_empty_v<Order>) {
    check_contract(!t.channels_last(), "this device has no NHWC");
    return {};
  } else {
    return t.channels_last() ? Order{t.shape[1], spatial_of(t)} : Order{1, 1};
  }
}

/// A problem of [batch, channels, spatial] for the images that `t` is one of: with the channels
/// innermost it is one of batch * spatial samples whose channels are single elements.
template <class Problem>
Problem as_laid_out(Problem problem, const ConstTensor& t) {
  if (!t.channels_last()) return problem;
  problem.batch *= problem.spatial;
  problem.spatial = 1;
  return problem;
}

}  // namespace arenagrad::bodies
