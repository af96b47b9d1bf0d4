// Deliberately shares nothing with the planners: a sweep over time that keeps what is live in order
// of address.
#include <algorithm>
#include <map>

#include "allocator/offline.h"

namespace arenagrad {
namespace {

std::string buffer_name(const Lifetime& l) { return "buffer " + std::to_string(index(l.id)); }

std::string bytes_of(const Lifetime& l, std::size_t offset) {
  return "[" + std::to_string(offset) + ", " +
         std::to_string(offset + round_up(l.bytes, l.alignment)) + ")";
}

/// What is wrong with one buffer by itself, empty when nothing.
std::string check_alone(const Lifetime& l, std::size_t offset) {
  const bool power_of_two = l.alignment > 0 && (l.alignment & (l.alignment - 1)) == 0;
  if (!power_of_two) {
    return buffer_name(l) + ": alignment " + std::to_string(l.alignment) + " is no power of two";
  }
  if (l.begin > l.end) {
    return buffer_name(l) + ": lives from " + std::to_string(l.begin) + " to " +
           std::to_string(l.end);
  }
  if (offset % l.alignment != 0) {
    return buffer_name(l) + ": offset " + std::to_string(offset) + " is no multiple of " +
           std::to_string(l.alignment);
  }
  const std::size_t rounded = round_up(l.bytes, l.alignment);
  if (rounded < l.bytes || offset + rounded < offset) {
    return buffer_name(l) + ": offset " + std::to_string(offset) + " and size " +
           std::to_string(l.bytes) + " pass 64 bits";
  }
  return "";
}

std::string overlap(const Lifetime& a, std::size_t at_a, const Lifetime& b, std::size_t at_b) {
  return buffer_name(a) + " at " + bytes_of(a, at_a) + " and " + buffer_name(b) + " at " +
         bytes_of(b, at_b) + " overlap while both are live from " +
         std::to_string(std::max(a.begin, b.begin)) + " to " +
         std::to_string(std::min(a.end, b.end));
}

}  // namespace

std::string validate(std::span<const Lifetime> lifetimes, const Plan& plan) {
  if (plan.offsets.size() != lifetimes.size()) {
    return "expected " + std::to_string(lifetimes.size()) + " offsets, got " +
           std::to_string(plan.offsets.size());
  }
  std::size_t top = 0;
  std::vector<std::size_t> births;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    std::string problem = check_alone(lifetimes[i], plan.offsets[i]);
    if (!problem.empty()) return problem;
    top = std::max(top, plan.offsets[i] + round_up(lifetimes[i].bytes, lifetimes[i].alignment));
    if (lifetimes[i].begin < lifetimes[i].end && lifetimes[i].bytes > 0) births.push_back(i);
  }
  if (top != plan.height) {
    return "expected height " + std::to_string(top) + ", the top of the highest buffer, got " +
           std::to_string(plan.height);
  }

  std::vector<std::size_t> deaths = births;
  std::sort(births.begin(), births.end(),
            [&](auto a, auto b) { return lifetimes[a].begin < lifetimes[b].begin; });
  std::sort(deaths.begin(), deaths.end(),
            [&](auto a, auto b) { return lifetimes[a].end < lifetimes[b].end; });
  std::map<std::size_t, std::size_t> live;  // offset to position
  std::size_t died = 0;
  for (const std::size_t i : births) {
    for (; lifetimes[deaths[died]].end <= lifetimes[i].begin; ++died) {
      live.erase(plan.offsets[deaths[died]]);
    }
    // All live buffers are apart, so that only the neighbours can be hit.
    const std::size_t offset = plan.offsets[i];
    const std::size_t end = offset + round_up(lifetimes[i].bytes, lifetimes[i].alignment);
    const auto above = live.lower_bound(offset);
    if (above != live.end() && above->first < end) {
      return overlap(lifetimes[above->second], above->first, lifetimes[i], offset);
    }
    if (above != live.begin()) {
      const std::size_t below = std::prev(above)->second;
      const Lifetime& l = lifetimes[below];
      if (plan.offsets[below] + round_up(l.bytes, l.alignment) > offset) {
        return overlap(l, plan.offsets[below], lifetimes[i], offset);
      }
    }
    live.emplace_hint(above, offset, i);
  }
  return "";
}

}  // namespace arenagrad
