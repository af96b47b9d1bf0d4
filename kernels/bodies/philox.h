// Philox 4x32-10: ten rounds that turn a 128-bit counter and a 64-bit key into 128 random bits
// (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011).
#pragma once

#include <cstdint>

#include "kernels/bodies/host_device.h"

namespace arenagrad::bodies {

struct PhiloxCounter {
  std::uint32_t word[4];
};

struct PhiloxKey {
  std::uint32_t word[2];
};

ARENAGRAD_HD inline PhiloxCounter philox_round(const PhiloxCounter& c, const PhiloxKey& key) {
  const std::uint64_t a = std::uint64_t{0xD2511F53u} * c.word[0];
  const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c.word[2];
  return {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ key.word[0],
           static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ key.word[1],
           static_cast<std::uint32_t>(a)}};
}

ARENAGRAD_HD inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key);
    key.word[0] += 0x9E3779B9u;
    key.word[1] += 0xBB67AE85u;
  }
  return counter;
}

}  // namespace arenagrad::bodies
