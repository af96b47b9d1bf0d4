#include "allocator/packing.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "allocator/error.h"

namespace arenagrad {
namespace {

// Nested lifetimes come off one layer at a time, and each layer reads all that is left.
constexpr std::size_t kMostVisits = 50'000'000;

struct Stretch {
  std::size_t base;
  std::vector<PackedBuffer> buffers;
};

/// Renumbers begins and ends as sections. A new one starts at the first begin after an end.
/// Returns how many there are. `times` is one more than the latest end.
std::uint32_t number_sections(std::vector<PackedBuffer>& buffers, std::uint32_t times) {
  // Bit 0: something ends then; bit 1: something begins then. At one time ends come first.
  std::vector<std::uint8_t> happens(times);
  for (const PackedBuffer& b : buffers) {
    happens[b.begin] |= 2;
    happens[b.end] |= 1;
  }
  // Sections closed before what begins at a time, and before what ends at it has ended.
  std::vector<std::uint32_t> section_at(times), closed_at(times);
  std::uint32_t sections = 0;
  bool open = false;
  for (std::uint32_t t = 0; t < times; ++t) {
    if ((happens[t] & 1) != 0 && open) {
      ++sections;
      open = false;
    }
    closed_at[t] = sections;
    if ((happens[t] & 2) != 0) open = true;
    section_at[t] = sections;
  }
  for (PackedBuffer& b : buffers) {
    b.begin = section_at[b.begin];
    b.end = closed_at[b.end];
  }
  return sections;
}

/// Buffers in order of begin, cut where nothing lives on.
std::vector<std::vector<PackedBuffer>> cut(std::vector<PackedBuffer> buffers) {
  std::vector<std::vector<PackedBuffer>> pieces;
  std::uint32_t last = 0;
  for (const PackedBuffer& b : buffers) {
    if (pieces.empty() || b.begin >= last) pieces.emplace_back();
    pieces.back().push_back(b);
    last = std::max(last, b.end);
  }
  return pieces;
}

Part make_part(std::size_t base, std::vector<PackedBuffer> buffers, std::uint32_t sections) {
  Part part{base, std::move(buffers), {}, 0};
  std::vector<std::size_t> more(sections + 1), less(sections + 1);
  for (const PackedBuffer& b : part.buffers) {
    more[b.begin] += b.size;
    less[b.end] += b.size;
  }
  std::size_t live = 0;
  for (std::uint32_t s = 0; s < sections; ++s) {
    live += more[s];
    live -= less[s];
    part.totals.push_back(live);
    part.bound = std::max(part.bound, live);
  }
  return part;
}

/// Times as ranks of the distinct begins and ends; order of begin.
std::vector<PackedBuffer> in_ranks(std::span<const Lifetime> lifetimes, std::size_t unit,
                                   std::uint32_t& times) {
  std::vector<std::uint32_t> marks;
  for (const Lifetime& l : lifetimes) {
    marks.push_back(l.begin);
    marks.push_back(l.end);
  }
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  times = static_cast<std::uint32_t>(marks.size());
  const auto rank = [&](std::uint32_t time) {
    return static_cast<std::uint32_t>(std::lower_bound(marks.begin(), marks.end(), time) -
                                      marks.begin());
  };
  std::vector<PackedBuffer> buffers;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& l = lifetimes[i];
    if (l.begin >= l.end || l.bytes == 0) continue;
    buffers.push_back({rank(l.begin), rank(l.end), round_up(l.bytes, l.alignment) / unit,
                       std::max<std::size_t>(l.alignment / unit, 1), l.end - l.begin,
                       static_cast<std::uint32_t>(i)});
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return buffers;
}

/// The largest unit that divides all offsets worth considering, sums of sizes rounded up to some
/// alignment: the common factor of the sizes, where every alignment divides it, else of the
/// alignments too.
std::size_t common_unit(std::span<const Lifetime> lifetimes) {
  std::size_t sizes = 0;
  std::size_t alignments = 0;
  std::size_t coarsest = 1;
  for (const Lifetime& l : lifetimes) {
    if (l.alignment == 0 || (l.alignment & (l.alignment - 1)) != 0) {
      throw Error("an alignment must be a power of two, got " + std::to_string(l.alignment) +
                  " for buffer " + std::to_string(index(l.id)));
    }
    if (l.bytes == 0) continue;
    sizes = std::gcd(sizes, round_up(l.bytes, l.alignment));
    alignments = std::gcd(alignments, l.alignment);
    coarsest = std::max(coarsest, l.alignment);
  }
  if (sizes == 0) return 1;
  return sizes % coarsest == 0 ? sizes : std::gcd(sizes, alignments);
}

}  // namespace

std::size_t Packing::bound() const {
  std::size_t bound = floor;
  for (const Part& part : parts) bound = std::max(bound, part.base + part.bound);
  return bound;
}

Packing pack(std::span<const Lifetime> lifetimes) {
  Packing packing{common_unit(lifetimes), std::vector<std::size_t>(lifetimes.size()), 0, {}};
  for (const Lifetime& l : lifetimes) {
    // What never lives has a top all the same, and a plan's height counts it.
    packing.floor = std::max(packing.floor, round_up(l.bytes, l.alignment) / packing.unit);
  }
  std::uint32_t times = 0;
  std::vector<Stretch> open{{0, in_ranks(lifetimes, packing.unit, times)}};
  std::size_t visits = 0;
  while (!open.empty()) {
    Stretch stretch = std::move(open.back());
    open.pop_back();
    for (std::vector<PackedBuffer>& piece : cut(std::move(stretch.buffers))) {
      const std::uint32_t first = piece.front().begin;
      std::uint32_t last = 0;
      std::size_t alignment = 1;
      for (PackedBuffer& b : piece) {
        b.begin -= first;
        b.end -= first;
        last = std::max(last, b.end);
        alignment = std::max(alignment, b.alignment);
      }
      const std::uint32_t sections = number_sections(piece, last + 1);
      visits += piece.size() + last;
      std::size_t base = stretch.base;
      std::vector<PackedBuffer> rest;
      for (const PackedBuffer& b : piece) {
        const bool whole = b.begin == 0 && b.end == sections;
        if (whole && b.size % alignment == 0 && visits < kMostVisits) {
          packing.settled[b.position] = base;
          base += b.size;
        } else {
          rest.push_back(b);
        }
      }
      packing.floor = std::max(packing.floor, base);
      if (rest.empty()) continue;
      if (base > stretch.base) {
        open.push_back({base, std::move(rest)});
      } else {
        packing.parts.push_back(make_part(base, std::move(rest), sections));
      }
    }
  }
  return packing;
}

std::size_t height_of(const Part& part, std::span<const std::size_t> offsets) {
  std::size_t height = 0;
  for (std::size_t i = 0; i < part.buffers.size(); ++i) {
    height = std::max(height, offsets[i] + part.buffers[i].size);
  }
  return height;
}

std::vector<std::size_t> drop(const Part& part, std::span<const std::uint32_t> order) {
  std::vector<std::size_t> tops(part.sections());
  std::vector<std::size_t> offsets(part.buffers.size());
  for (const std::uint32_t i : order) {
    const PackedBuffer& b = part.buffers[i];
    const std::size_t below = *std::max_element(tops.begin() + b.begin, tops.begin() + b.end);
    offsets[i] = round_up(below, b.alignment);
    std::fill(tops.begin() + b.begin, tops.begin() + b.end, offsets[i] + b.size);
  }
  return offsets;
}

Plan assemble(const Packing& packing, std::span<const Lifetime> lifetimes,
              std::span<const std::vector<std::size_t>> parts) {
  Plan plan;
  for (const std::size_t offset : packing.settled) plan.offsets.push_back(offset * packing.unit);
  for (std::size_t p = 0; p < packing.parts.size(); ++p) {
    const Part& part = packing.parts[p];
    for (std::size_t i = 0; i < part.buffers.size(); ++i) {
      plan.offsets[part.buffers[i].position] = (part.base + parts[p][i]) * packing.unit;
    }
  }
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& l = lifetimes[i];
    plan.height = std::max(plan.height, plan.offsets[i] + round_up(l.bytes, l.alignment));
  }
  return plan;
}

}  // namespace arenagrad
