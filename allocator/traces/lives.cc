#include "allocator/traces/lives.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace arenagrad {

using Kind = TraceEvent::Kind;

std::vector<Lifetime> lifetimes(const TraceLog& trace) {
  std::vector<Lifetime> result;
  std::unordered_map<std::uint64_t, std::size_t> live;
  std::uint32_t time = 0;
  for (const TraceEvent& event : trace.events()) {
    if (event.kind == Kind::allocate) {
      live[event.id] = result.size();
      result.push_back({.id = BufferId{static_cast<std::uint32_t>(result.size())},
                        .bytes = event.bytes,
                        .alignment = event.alignment ? event.alignment : trace.header().alignment,
                        .begin = time++,
                        .end = 0});
    } else if (event.kind == Kind::free) {
      const auto found = live.find(event.id);
      check_contract(found != live.end(), "a trace frees what is not live");
      result[found->second].end = time++;
      live.erase(found);
    }
  }
  for (const auto& [id, index] : live) result[index].end = time;
  return result;
}

void replay_lifetimes(std::span<const TraceLife> lives,
                      const std::function<void(const TraceEvent&, std::size_t)>& call) {
  const auto in_order_of = [&](std::uint64_t TraceLife::*time) {
    std::vector<std::uint32_t> order(lives.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return lives[a].*time < lives[b].*time;
    });
    return order;
  };
  const auto births = in_order_of(&TraceLife::begin), deaths = in_order_of(&TraceLife::end);
  auto death = deaths.begin();
  const auto free_until = [&](std::uint64_t time) {
    for (; death != deaths.end() && lives[*death].end <= time; ++death) {
      const TraceLife& life = lives[*death];
      call({.kind = Kind::free, .id = life.id, .time = life.end}, *death);
    }
  };
  for (const std::uint32_t birth : births) {
    const TraceLife& life = lives[birth];
    free_until(life.begin);
    call({.kind = Kind::allocate,
          .id = life.id,
          .bytes = life.bytes,
          .offset = life.offset,
          .alignment = life.alignment,
          .time = life.begin},
         birth);
  }
  free_until(kUnknownTime);
}

}  // namespace arenagrad
