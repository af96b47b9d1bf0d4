#include <algorithm>
#include <utility>

#include "allocator/offline.h"

namespace arenagrad {

std::size_t lower_bound(std::span<const Lifetime> lifetimes, bool aligned) {
  // Ends sort before begins at the same time, since what dies there makes room.
  std::vector<std::pair<std::uint64_t, std::size_t>> changes;
  changes.reserve(2 * lifetimes.size());
  for (const Lifetime& l : lifetimes) {
    if (l.begin >= l.end) continue;
    const std::size_t bytes = aligned ? round_up(l.bytes, l.alignment) : l.bytes;
    changes.emplace_back(std::uint64_t{l.begin} * 2 + 1, bytes);
    changes.emplace_back(std::uint64_t{l.end} * 2, bytes);
  }
  std::sort(changes.begin(), changes.end());
  std::size_t live = 0;
  std::size_t most = 0;
  for (const auto& [time, bytes] : changes) {
    live = time % 2 == 1 ? live + bytes : live - bytes;
    most = std::max(most, live);
  }
  return most;
}

}  // namespace arenagrad
