#include "cli/report/difference.h"

#include <algorithm>
#include <cstdlib>

#include "allocator/units.h"

namespace arenagrad::cli {

std::string difference_text(std::int64_t difference) {
  return (difference < 0 ? "-" : "+") +
         exact_bytes(static_cast<std::size_t>(std::llabs(difference)));
}

Cell difference_cell(const Pair& pair) {
  return pair.difference() == 0 ? std::string("0 B") : difference_text(pair.difference());
}

Categories paired(const CategoryBytes& a, const CategoryBytes& b) {
  Categories pairs;
  for (std::size_t c = 0; c < kCategoryCount; ++c) pairs[c].bytes = {a[c], b[c]};
  return pairs;
}

Pair sum(const Categories& pairs) {
  Pair total;
  for (const auto& pair : pairs)
    for (std::size_t i = 0; i < 2; ++i) total.bytes[i] += pair.bytes[i];
  return total;
}

std::vector<std::size_t> differing(const Categories& pairs) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (pairs[c].difference() != 0) order.push_back(c);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::llabs(pairs[a].difference()) > std::llabs(pairs[b].difference());
  });
  return order;
}

}  // namespace arenagrad::cli
