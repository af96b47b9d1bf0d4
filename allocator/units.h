// Bytes and counts as people read and type them. Binary units are the ones printed; what is typed
// may use either kind, and 6GB is not 6GiB.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "allocator/error.h"

namespace arenagrad {

/// "512 B", "1.50 GiB": binary units, two decimals, rounded half up.
std::string human_bytes(std::size_t bytes);

/// "1.50 GiB (1,610,612,736 B)"; below 1 KiB just "512 B".
std::string exact_bytes(std::size_t bytes);

/// "1,610,612,736".
std::string with_commas(std::uint64_t value);
std::string with_commas(std::int64_t value);

template <std::integral Integer>
std::string with_commas(Integer value) {
  if constexpr (std::signed_integral<Integer>) {
    return with_commas(static_cast<std::int64_t>(value));
  } else {
    return with_commas(static_cast<std::uint64_t>(value));
  }
}

/// A number of bytes that 64 bits cannot hold.
class TooManyBytes : public Error {
 public:
  using Error::Error;
};

/// "123", "512MiB" (2^20), "6GB" (10^9), "1.5 GiB"; any case, k to E, a fraction of a byte is cut
/// off. Throws Error for anything else, and TooManyBytes.
std::size_t parse_bytes(std::string_view text);

}  // namespace arenagrad
