// Ranges of addresses that show pages of a home range in another order, kept for the next time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "allocator/address_space.h"
#include "allocator/page_runs.h"
#include "allocator/request.h"

namespace arenagrad {

class StitchedRanges {
 public:
  /// Of the pages of `page` bytes that begin at `home`, committed and shareable.
  StitchedRanges(Driver& driver, std::size_t alignment, std::size_t home, std::size_t page)
      : driver_(driver), addresses_(driver, alignment), home_(home), page_(page) {}

  /// The oldest range of `pages` pages that are all free, and takes them.
  std::optional<std::uint64_t> take(std::size_t pages, PageRuns& free);

  /// Maps free pages in this order and takes them. Ranges not in use go first, the oldest of all,
  /// where addresses for more than some times the `committed` pages are mapped. Nothing when the
  /// driver refuses.
  std::optional<std::uint64_t> add(const std::vector<PageRun>& runs, std::size_t committed,
                                   PageRuns& free);

  /// Frees the pages; the range stays mapped.
  void give_back(std::uint64_t serial, PageRuns& free);

  Placement placement(std::uint64_t serial) const {
    const Range& range = ranges_.at(serial);
    return {range.offset, range.pages * page_};
  }

  /// Of all ranges, in order.
  std::uint64_t hash() const;

 private:
  struct Range {
    std::size_t offset, pages;
    std::vector<PageRun> runs;
    bool used;
  };

  bool map(const Range& range);
  void unmap(const Range& range, std::size_t runs);
  void drop_idle(std::size_t most_pages);

  Driver& driver_;
  AddressSpace addresses_;
  std::size_t home_, page_;
  std::map<std::uint64_t, Range> ranges_;               // by serial number, so the oldest first
  std::multimap<std::size_t, std::uint64_t> by_pages_;  // to serial numbers, ascending
  std::uint64_t next_ = 0;
  std::size_t pages_ = 0;  // of all ranges
};

}  // namespace arenagrad
