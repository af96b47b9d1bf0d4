// A planning problem cut down to what matters for its height.
//
// Time becomes sections: the largest sets of buffers that are alive together, in order of time. Two
// buffers conflict exactly if they share a section, and each lives through a range of them. Sizes
// are rounded to alignments and divided by their common factor. What lives through a whole stretch
// of time that nothing else bridges goes to the bottom of that stretch, where it is in nobody's
// way; the rest may then fall apart in time. The parts left over are independent of one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/offline.h"

namespace arenagrad {

struct PackedBuffer {
  std::uint32_t begin, end;  // sections, half-open, never empty
  std::size_t size;          // in units, more than 0, a multiple of the alignment
  std::size_t alignment;     // in units
  std::uint32_t duration;    // in the time of the problem
  std::uint32_t position;    // in the lifetimes
};

inline bool conflict(const PackedBuffer& a, const PackedBuffer& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Sizes of what lives in each section, in units; at least one buffer, at least one section.
struct Part {
  std::size_t base;  // what is below: offsets within the part start here
  std::vector<PackedBuffer> buffers;
  std::vector<std::size_t> totals;  // by section
  std::size_t bound;                // the largest total

  std::uint32_t sections() const { return static_cast<std::uint32_t>(totals.size()); }
};

struct Packing {
  std::size_t unit;                  // bytes
  std::vector<std::size_t> settled;  // offsets in units by position, of what is in no part
  std::size_t floor;                 // top of the settled ones
  std::vector<Part> parts;

  /// In units: no plan is lower.
  std::size_t bound() const;
};

/// Throws Error for an alignment that is no power of two.
Packing pack(std::span<const Lifetime> lifetimes);

/// Places in that order, each as low as what was placed before allows; returns the offsets by
/// index. In the order of a plan's offsets nothing ends up higher than in that plan.
std::vector<std::size_t> drop(const Part& part, std::span<const std::uint32_t> order);

/// Offsets of a plan for all of the lifetimes, made lower: `parts` has the offsets of each part.
Plan assemble(const Packing& packing, std::span<const Lifetime> lifetimes,
              std::span<const std::vector<std::size_t>> parts);

std::size_t height_of(const Part& part, std::span<const std::size_t> offsets);

}  // namespace arenagrad
