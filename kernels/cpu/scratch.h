// Cutting up the scratch of one kernel call. A layout is computed from the shape by the same code
// when bytes are declared and when they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tensor.h"

namespace arenagrad::cpu {

/// Bytes of `elements` values of T, rounded up to whole cache lines (64 bytes).
template <class T>
constexpr std::size_t line_bytes(std::int64_t elements) {
  return (static_cast<std::size_t>(elements) * sizeof(T) + 63) / 64 * 64;
}

/// The shortest row of at least `elements` values that is an odd number of cache lines: rows a
/// multiple of 4 KiB apart would compete for the same few places of the L1 cache.
template <class T>
constexpr std::int64_t spread_stride(std::int64_t elements) {
  return static_cast<std::int64_t>((line_bytes<T>(elements) / 64 | 1) * 64 / sizeof(T));
}

/// The workspace's base, after checking that all that was declared is there.
inline std::byte* scratch_base(Workspace workspace, std::size_t declared) {
  check_contract(workspace.bytes >= declared, "workspace smaller than declared");
  return static_cast<std::byte*>(workspace.data);
}

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// [0, length) cut into the fewest pieces of at most `limit`, all as long as possible.
struct Pieces {
  std::int64_t length, piece, count;

  Pieces(std::int64_t length, std::int64_t limit, std::int64_t multiple = 1) : length(length) {
    if (limit > length) limit = length;
    piece = divide_up(length, divide_up(length, limit < 1 ? 1 : limit));
    piece = divide_up(piece, multiple) * multiple;
    if (piece > length) piece = length;
    count = divide_up(length, piece);
  }
  std::int64_t begin(std::int64_t i) const { return i * piece; }
  std::int64_t size(std::int64_t i) const {
    return (i + 1) * piece <= length ? piece : length - i * piece;
  }
};

}  // namespace arenagrad::cpu
