// Where pooling windows lie along one axis.
#pragma once

#include <cstdint>

#include "kernels/bodies/host_device.h"
#include "kernels/problems.h"

namespace arenagrad::bodies {

struct Range {
  std::int64_t begin, end;
};

/// Where output `o`'s window begins, in input coordinates: below 0 in the padding.
ARENAGRAD_HD inline std::int64_t window_begin(const PoolAxis& axis, std::int64_t o) {
  return axis.adaptive ? o * axis.length / axis.output : o * axis.stride - axis.pad;
}

/// The inputs under output `o`'s window.
ARENAGRAD_HD inline Range window(const PoolAxis& axis, std::int64_t o) {
  const std::int64_t begin = window_begin(axis, o);
  if (axis.adaptive) return {begin, ((o + 1) * axis.length + axis.output - 1) / axis.output};
  const std::int64_t end = begin + axis.kernel;
  return {begin < 0 ? 0 : begin, end < axis.length ? end : axis.length};
}

/// The places of output `o`'s window that an average's divisor counts. Padding counts as places;
/// what ceil_mode's last window has beyond the padding never does.
ARENAGRAD_HD inline std::int64_t window_places(const PoolAxis& axis, std::int64_t o,
                                               bool count_padding) {
  if (axis.adaptive || !count_padding) {
    const Range range = window(axis, o);
    return range.end - range.begin;
  }
  const std::int64_t begin = window_begin(axis, o);
  const std::int64_t end = begin + axis.kernel;
  const std::int64_t limit = axis.length + axis.pad;
  return (end < limit ? end : limit) - begin;
}

/// The outputs whose windows hold input `i`. For bins: floor(o L / n) <= i < ceil((o + 1) L / n)
/// means floor(i n / L) <= o < ceil((i + 1) n / L).
ARENAGRAD_HD inline Range windows_over(const PoolAxis& axis, std::int64_t i) {
  if (axis.adaptive)
    return {i * axis.output / axis.length, ((i + 1) * axis.output + axis.length - 1) / axis.length};
  const std::int64_t place = i + axis.pad;
  const std::int64_t before = place - axis.kernel;  // windows that begin here or earlier miss i
  const std::int64_t begin = before < 0 ? 0 : before / axis.stride + 1;
  const std::int64_t end = place / axis.stride + 1;
  return {begin, end < axis.output ? end : axis.output};
}

}  // namespace arenagrad::bodies
