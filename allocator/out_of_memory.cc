#include <string>

#include "allocator/strategy.h"
#include "allocator/units.h"

namespace arenagrad {
namespace {

std::string describe(const Refusal& refusal) {
  std::string text =
      "out of memory: " + std::string(name(refusal.request.category)) + " of " +
      exact_bytes(refusal.request.bytes) + ", granted " + exact_bytes(refusal.granted) +
      ", does not fit; expected a footprint of at most the capacity, " +
      exact_bytes(refusal.capacity) + ", got a need for " + exact_bytes(refusal.needed);
  if (refusal.needed <= refusal.capacity) text += ", which the system refused";
  text += "; footprint " + exact_bytes(refusal.usage.footprint) + ", holes " +
          exact_bytes(refusal.usage.free) + ", largest hole " + exact_bytes(refusal.largest_hole) +
          ", reserved " + exact_bytes(refusal.usage.reserved) + "; live: ";
  std::string list;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if (refusal.live[i] == 0) continue;
    if (!list.empty()) list += ", ";
    list += std::string(kCategoryNames[i]) + " " + exact_bytes(refusal.live[i]);
  }
  return text + (list.empty() ? "nothing" : list);
}

}  // namespace

OutOfMemory::OutOfMemory(const Refusal& refusal) : Error(describe(refusal)), Refusal(refusal) {}

}  // namespace arenagrad
