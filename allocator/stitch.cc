// GMLake's stitching: memory in pages of 2 MiB, and a buffer of more than 1 MiB is made of any free
// pages, mapped one after another at other addresses where they are not neighbours. No page is
// wasted for lack of neighbours: the driver pays with map calls.
//
// Pages are committed in one home range, upwards, when fewer are free than asked for. A request of
// n pages takes, in this order: the smallest sufficient run of free neighbours; a range stitched
// earlier for n pages all of which are free; the largest free runs, with new pages for what is
// missing, stitched unless they are neighbours. Smaller requests share pages, best-fit in multiples
// of 512 bytes; such a page is free when all of it is.
//
// The footprint is all pages, however many addresses show them, and holes are their free bytes.
#include <map>
#include <numeric>

#include "allocator/address_space.h"
#include "allocator/cached_blocks.h"
#include "allocator/caching.h"
#include "allocator/growing_range.h"
#include "allocator/live_table.h"
#include "allocator/page_runs.h"
#include "allocator/stitched_ranges.h"

namespace arenagrad {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;

class Stitch final : public AllocationStrategy {
 public:
  explicit Stitch(const StrategyContext& context)
      : driver_(context.driver),
        alignment_(context.alignment),
        rules_({}, context.alignment),
        page_(round_up(kPage, std::lcm(driver_.granule(), alignment_))),
        range_(round_up(std::min(driver_.capacity(), driver_.longest_range()), page_)),
        home_(driver_.reserve(std::max(range_, page_), Sharing::shareable)),
        stitched_(driver_, alignment_, home_, page_) {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t size = rules_.rounded(request.bytes);
    const Place place = rules_.small(size) ? take_block(size) : take_pages(pages_for(size));
    if (place.kind == Kind::none) refuse(request, size);
    if (index(request.id) >= place_of_.size()) place_of_.resize(index(request.id) + 1);
    place_of_[index(request.id)] = place;
    const Placement placement = placement_of(place);
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    const Place& place = place_of_[index(id)];
    switch (place.kind) {
      case Kind::block: give_back_block(place.block); break;
      case Kind::run: free_.insert(place.run); break;
      case Kind::stitched: stitched_.give_back(place.serial, free_); break;
      case Kind::none: break;
    }
  }

  Usage usage() const override {
    const std::size_t footprint = pages_ * page_;
    return {footprint, driver_.reserved(), footprint - live_.granted()};
  }

  /// Free pages are as good as one.
  std::size_t largest_hole() const override {
    return std::max(free_.pages() * page_, blocks_.largest(PoolId::small));
  }

  // Free pages and blocks are what live buffers leave; ranges that are stitched but free will be
  // used again.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(LiveTable::mix(live_.hash(), pages_), stitched_.hash());
  }

 private:
  enum class Kind : std::uint8_t { none, block, run, stitched };
  struct Place {
    Kind kind = Kind::none;
    std::uint32_t block = kNoBlock;
    PageRun run{};
    std::uint64_t serial = 0;  // of the stitched range
  };

  std::size_t pages_for(std::size_t bytes) const { return (bytes + page_ - 1) / page_; }
  std::size_t address(std::size_t page) const { return home_ + page * page_; }

  Placement placement_of(const Place& place) const {
    switch (place.kind) {
      case Kind::block: return {blocks_[place.block].offset, blocks_[place.block].bytes};
      case Kind::run: return {address(place.run.begin), place.run.pages() * page_};
      case Kind::stitched: return stitched_.placement(place.serial);
      case Kind::none: break;
    }
    throw ContractError("the place of nothing");
  }

  Place take_block(std::size_t size) {
    const auto best = blocks_.pool(PoolId::small).lower_bound({size, 0});
    std::uint32_t block = kNoBlock;
    if (best != blocks_.pool(PoolId::small).end()) {
      block = best->block;
      blocks_.take(block);
    } else {
      const Place page = take_pages(1);
      if (page.kind == Kind::none) return {};
      block = blocks_.add(address(page.run.begin), page_, BlockState::used, PoolId::small);
    }
    if (blocks_[block].bytes > size) blocks_.give_back(blocks_.split(block, size), 0);
    return {.kind = Kind::block, .block = block};
  }

  void give_back_block(std::uint32_t block) {
    block = blocks_.give_back(block, 0);
    if (!blocks_.whole(block)) return;
    const std::size_t page = (blocks_[block].offset - home_) / page_;
    blocks_.take(block);
    blocks_.drop(block);
    free_.insert({page, page + 1});
  }

  Place take_pages(std::size_t pages) {
    if (const PageRun run = free_.best(pages); run.pages() > 0) return take_run(run);
    if (const auto serial = stitched_.take(pages, free_)) {
      return {.kind = Kind::stitched, .serial = *serial};
    }
    if (pages > free_.pages() && !commit(pages - free_.pages())) return {};
    const std::vector<PageRun> runs = free_.largest(pages);
    if (runs.size() == 1) return take_run(runs.front());
    const auto serial = stitched_.add(runs, pages_, free_);
    return serial ? Place{.kind = Kind::stitched, .serial = *serial} : Place{};
  }

  Place take_run(const PageRun& run) {
    free_.erase(run);
    return {.kind = Kind::run, .run = run};
  }

  /// New pages, free ones.
  bool commit(std::size_t pages) {
    const std::size_t bytes = pages * page_;
    if (bytes > range_ - pages_ * page_ || !driver_.commit(address(pages_), bytes)) return false;
    free_.insert({pages_, pages_ + pages});
    pages_ += pages;
    return true;
  }

  [[noreturn]] void refuse(const Request& request, std::size_t size) const {
    const std::size_t pages = rules_.small(size) ? 1 : pages_for(size);
    const std::size_t missing = pages > free_.pages() ? pages - free_.pages() : 0;
    throw OutOfMemory({request, rules_.small(size) ? size : pages * page_, usage(), largest_hole(),
                       (pages_ + missing) * page_, driver_.capacity()});
  }

  Driver& driver_;
  std::size_t alignment_;
  CachingRules rules_;
  std::size_t page_;   // bytes
  std::size_t range_;  // bytes of home addresses
  std::size_t home_;   // where they begin
  std::size_t pages_ = 0;
  PageRuns free_;
  StitchedRanges stitched_;
  CachedBlocks blocks_;  // of small requests
  LiveTable live_;
  std::vector<Place> place_of_;  // by buffer id
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_stitch(const StrategyContext& context) {
  return std::make_unique<Stitch>(context);
}

}  // namespace arenagrad
