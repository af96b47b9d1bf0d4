#include "allocator/incumbent.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "allocator/portfolio.h"

namespace arenagrad {

Incumbent::Incumbent(std::span<const Lifetime> lifetimes)
    : lifetimes_(lifetimes), packing_(pack(lifetimes)) {
  const Plan start = plan_portfolio(lifetimes);
  for (const Part& part : packing_.parts) {
    std::vector<std::uint32_t> order(part.buffers.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return start.offsets[part.buffers[a].position] < start.offsets[part.buffers[b].position];
    });
    offsets_.push_back(drop(part, order));
    heights_.push_back(height_of(part, offsets_.back()));
  }
}

std::size_t Incumbent::height() const {
  std::size_t height = packing_.floor;
  for (std::size_t p = 0; p < heights_.size(); ++p) {
    height = std::max(height, packing_.parts[p].base + heights_[p]);
  }
  return height;
}

std::optional<std::size_t> Incumbent::critical() const {
  const std::size_t height = this->height();
  if (height == bound()) return std::nullopt;
  std::size_t part = 0;
  while (packing_.parts[part].base + heights_[part] < height) ++part;
  return part;
}

void Incumbent::improve(std::size_t part, std::vector<std::size_t> offsets) {
  heights_[part] = height_of(packing_.parts[part], offsets);
  offsets_[part] = std::move(offsets);
}

void Incumbent::raise_bound(std::size_t part, std::size_t bound) {
  packing_.parts[part].bound = std::max(packing_.parts[part].bound, bound);
}

Solution Incumbent::solution() const {
  Solution solution;
  solution.plan = assemble(packing_, lifetimes_, offsets_);
  solution.bound = bound() * packing_.unit;
  solution.optimal = solution.plan.height == solution.bound;
  return solution;
}

}  // namespace arenagrad
