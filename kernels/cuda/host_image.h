// A tensor's elements between a row-major array of the host and the order in which they lie on the
// GPU: cut into parts, because copies travel in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/bodies/layout.h"

namespace arenagrad::cuda {

class HostImage {
 public:
  explicit HostImage(const ConstTensor& t)
      : element_(size_of(t.dtype)),
        row_major_(!t.channels_last()),
        channels_(row_major_ ? 1 : static_cast<std::size_t>(t.shape[1])),
        pixels_(row_major_ ? 1 : static_cast<std::size_t>(bodies::spatial_of(t))) {}

  /// Bytes [begin, begin + size) as on the GPU, of whole elements.
  void to_gpu(const std::byte* host, std::size_t begin, std::size_t size, std::byte* part) const {
    copy(begin, size, [&](std::size_t in_host, std::size_t in_part, auto n) {
      std::memcpy(part + in_part, host + in_host, n);
    });
  }
  void from_gpu(const std::byte* part, std::size_t begin, std::size_t size, std::byte* host) const {
    copy(begin, size, [&](std::size_t in_host, std::size_t in_part, auto n) {
      std::memcpy(host + in_host, part + in_part, n);
    });
  }

 private:
  template <std::size_t n>
  struct Bytes {
    constexpr operator std::size_t() const { return n; }
  };

  /// fn(offset in the host's array, offset in the part, bytes).
  template <class Fn>
  void copy(std::size_t begin, std::size_t size, const Fn& fn) const {
    if (row_major_) return fn(begin, std::size_t{0}, size);
    // A constant size is a move rather than a call.
    if (element_ == 4) return copy_elements<4>(begin, size, fn);
    if (element_ == 8) return copy_elements<8>(begin, size, fn);
    copy_elements<1>(begin, size, fn);
  }
  template <std::size_t n, class Fn>
  void copy_elements(std::size_t begin, std::size_t size, const Fn& fn) const {
    check_contract(element_ == n && begin % n == 0 && size % n == 0, "a part of an element");
    const std::size_t channels = channels_, pixels = pixels_;
    const std::size_t first = begin / n;  // as on the GPU; then counted on without dividing
    std::size_t channel = first % channels;
    std::size_t pixel = first / channels % pixels;
    std::size_t sample = first / (channels * pixels) * (channels * pixels);
    for (std::size_t i = 0; i < size; i += n) {
      fn((sample + channel * pixels + pixel) * n, i, Bytes<n>{});
      if (++channel < channels) continue;
      channel = 0;
      if (++pixel < pixels) continue;
      pixel = 0;
      sample += channels * pixels;
    }
  }

  std::size_t element_;
  bool row_major_;
  std::size_t channels_, pixels_;
};

}  // namespace arenagrad::cuda
