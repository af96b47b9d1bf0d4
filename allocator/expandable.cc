// PyTorch's caching allocator with expandable segments: for each pool a range of addresses of 1 1/8
// times the capacity, given memory in pages of 2 MiB (small) or 20 MiB (large) where a request
// doesn't fit: at the lowest address at which free and unmapped addresses make room enough. Under
// pressure the whole free pages lose their memory.
//
// The footprint is all mapped pages, and holes are all of their free bytes: it falls when pages are
// unmapped.
#include <map>
#include <numeric>

#include "allocator/address_space.h"
#include "allocator/cached_blocks.h"
#include "allocator/caching.h"
#include "allocator/live_table.h"

namespace arenagrad {
namespace {

class Expandable final : public AllocationStrategy {
 public:
  Expandable(const StrategyContext& context, const CachingSettings& settings)
      : driver_(context.driver), alignment_(context.alignment), rules_(settings, alignment_) {
    const std::size_t step = std::lcm(driver_.granule(), alignment_);
    of(PoolId::small).page = round_up(CachingRules::kSmallBuffer, step);
    of(PoolId::large).page = round_up(CachingRules::kLargeBuffer, step);
  }

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t size = rules_.rounded(request.bytes);
    const PoolId pool = rules_.small(size) ? PoolId::small : PoolId::large;
    std::uint32_t block = search(pool, size);
    if (block == kNoBlock) block = grow(pool, size);
    if (block == kNoBlock) {
      for (const PoolId id : kPools) unmap_free_pages(id);
      block = grow(pool, size);
    }
    if (block == kNoBlock) {
      throw OutOfMemory({request, size, usage(), blocks_.largest(pool),
                         driver_.reserved() + refused_, driver_.capacity()});
    }
    blocks_.take(block);
    if (rules_.splits_finely(blocks_[block].bytes, size)) {
      blocks_.give_back(blocks_.split(block, size), 0);
    }
    if (index(request.id) >= block_of_.size()) block_of_.resize(index(request.id) + 1);
    block_of_[index(request.id)] = block;
    const Placement placement{blocks_[block].offset, blocks_[block].bytes};
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    blocks_.give_back(block_of_[index(id)], 0);
  }

  Usage usage() const override {
    return {footprint_, driver_.reserved(), footprint_ - live_.granted()};
  }

  std::size_t largest_hole() const override {
    return std::max(blocks_.largest(PoolId::small), blocks_.largest(PoolId::large));
  }

  // Free blocks are what live ones leave of the mapped pages.
  std::optional<std::uint64_t> fingerprint() const override {
    return LiveTable::mix(live_.hash(), pages_hash_);
  }

 private:
  struct Pages {
    std::size_t page = 0;                           // bytes
    std::map<std::size_t, std::uint32_t> unmapped;  // offset to block
    std::map<std::size_t, std::size_t> ranges;      // begin to end; pages are cut from the begin
  };
  Pages& of(PoolId pool) { return pages_[static_cast<std::size_t>(pool)]; }

  /// With the unmapped addresses after it.
  std::size_t room(std::uint32_t block) const {
    const std::uint32_t next = blocks_[block].next;
    return blocks_[block].bytes +
           (blocks_.chain().is(next, BlockState::unmapped) ? blocks_[next].bytes : 0);
  }

  /// A free block, still in its pool. A block counts as large as it can grow, so the best of them
  /// may come after others that are smaller by themselves.
  std::uint32_t search(PoolId pool, std::size_t size) const {
    const CachedBlocks::Pool& free = blocks_.pool(pool);
    auto best = free.lower_bound({size, 0});
    if (best == free.end()) return kNoBlock;
    for (auto next = std::next(best); next != free.end() && room(next->block) < room(best->block);
         ++next) {
      best = next;
    }
    return rules_.serves(best->bytes, size) ? best->block : kNoBlock;
  }

  /// Maps what is missing at the lowest place with addresses enough; a free block, or kNoBlock when
  /// the driver refuses.
  std::uint32_t grow(PoolId pool, std::size_t size) {
    if (size > driver_.capacity()) {
      refused_ = size;
      return kNoBlock;
    }
    std::uint32_t block = find_addresses(pool, size);
    if (blocks_[block].state == BlockState::unmapped) {
      block = map(block, std::min(size, blocks_[block].bytes));
    }
    while (block != kNoBlock && blocks_[block].bytes < size) {
      const std::uint32_t next = blocks_[block].next;
      block = map(next, std::min(size - blocks_[block].bytes, blocks_[next].bytes));
    }
    return block;
  }

  /// An unmapped block, or the free one before it, from which on `size` bytes are not in use.
  std::uint32_t find_addresses(PoolId pool, std::size_t size) {
    for (const auto& [offset, unmapped] : of(pool).unmapped) {
      const std::uint32_t prev = blocks_[unmapped].prev;
      const std::uint32_t first = blocks_.chain().is(prev, BlockState::free) ? prev : unmapped;
      std::size_t bytes = 0;
      for (auto b = first; bytes < size && b != kNoBlock; b = blocks_[b].next) {
        if (blocks_[b].state == BlockState::used) break;
        bytes += blocks_[b].bytes;
      }
      if (bytes >= size) return first;
    }
    const std::size_t most = driver_.capacity() + driver_.capacity() / 8;
    const std::size_t bytes =
        round_up(std::max(size, std::min(most, driver_.longest_range())), of(pool).page);
    const std::size_t offset = driver_.reserve(bytes);
    of(pool).ranges.emplace(offset, offset + bytes);
    const std::uint32_t block = blocks_.add(offset, bytes, BlockState::unmapped, pool);
    of(pool).unmapped.emplace(offset, block);
    return block;
  }

  /// Maps the pages of an unmapped block's first `bytes`. The free block that they are part of, or
  /// kNoBlock when the driver refuses.
  std::uint32_t map(std::uint32_t block, std::size_t bytes) {
    const PoolId pool = blocks_.pool_of(block);
    const std::size_t offset = blocks_[block].offset;
    bytes = round_up(bytes, of(pool).page);
    if (!driver_.commit(offset, bytes)) {
      refused_ = bytes;
      return kNoBlock;
    }
    of(pool).unmapped.erase(offset);
    if (bytes < blocks_[block].bytes) {
      const std::uint32_t rest = blocks_.split(block, bytes);
      of(pool).unmapped.emplace(blocks_[rest].offset, rest);
    }
    count(pool, offset, bytes, true);
    return blocks_.give_back(block, 0);
  }

  void unmap_free_pages(PoolId pool) {
    const std::vector<FreeBlock> free(blocks_.pool(pool).begin(), blocks_.pool(pool).end());
    const std::size_t page = of(pool).page;
    for (const FreeBlock& f : free) {
      const std::size_t base = std::prev(of(pool).ranges.upper_bound(f.offset))->first;
      const std::size_t begin = base + round_up(f.offset - base, page);
      const std::size_t end = base + (f.offset + f.bytes - base) / page * page;
      if (begin < end) unmap(f.block, begin, end);
    }
  }

  /// Takes the memory of the pages [begin, end) of a free block.
  void unmap(std::uint32_t block, std::size_t begin, std::size_t end) {
    const PoolId pool = blocks_.pool_of(block);
    driver_.decommit(begin, end - begin);
    blocks_.take(block);
    if (const std::size_t before = begin - blocks_[block].offset; before > 0) {
      const std::uint32_t rest = blocks_.split(block, before);
      blocks_.give_back(block, 0);
      block = rest;
    }
    if (blocks_[block].bytes > end - begin) {
      blocks_.give_back(blocks_.split(block, end - begin), 0);
    }
    count(pool, begin, end - begin, false);
    const std::uint32_t next = blocks_[block].next;
    if (blocks_.chain().is(next, BlockState::unmapped)) {
      of(pool).unmapped.erase(blocks_[next].offset);
    }
    const std::uint32_t merged = blocks_.unmap(block);
    of(pool).unmapped[blocks_[merged].offset] = merged;
  }

  void count(PoolId pool, std::size_t offset, std::size_t bytes, bool mapped) {
    for (std::size_t at = offset; at < offset + bytes; at += of(pool).page) {
      const std::uint64_t hash = LiveTable::mix(at, static_cast<std::uint64_t>(pool));
      pages_hash_ = mapped ? pages_hash_ + hash : pages_hash_ - hash;
    }
    footprint_ = mapped ? footprint_ + bytes : footprint_ - bytes;
  }

  Driver& driver_;
  std::size_t alignment_;
  CachingRules rules_;
  Pages pages_[2];  // by pool
  CachedBlocks blocks_;
  LiveTable live_;
  std::vector<std::uint32_t> block_of_;  // by buffer id
  std::size_t footprint_ = 0;            // bytes of all mapped pages
  std::uint64_t pages_hash_ = 0;
  std::size_t refused_ = 0;  // bytes that the driver did not map
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_expandable(const StrategyContext& context,
                                                    const CachingSettings& settings) {
  return std::make_unique<Expandable>(context, settings);
}

std::unique_ptr<AllocationStrategy> make_expandable(const StrategyContext& context) {
  return make_expandable(context, {});
}

}  // namespace arenagrad
