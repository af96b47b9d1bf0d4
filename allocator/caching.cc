// PyTorch's caching allocator. Segments of 2 MiB (for requests up to 1 MiB), of 20 MiB (below 10
// MiB) and of the request's own size are taken from the driver when no free block serves, and are
// kept when all of them is free; they go back only when the driver refuses, or by age where garbage
// collection is on.
//
// The footprint is all segments, and holes are all of their free bytes: it falls when a segment
// goes back.
#include "allocator/caching.h"

#include "allocator/address_space.h"
#include "allocator/cached_blocks.h"
#include "allocator/live_table.h"

namespace arenagrad {
namespace {

class Caching final : public AllocationStrategy {
 public:
  Caching(const StrategyContext& context, const CachingSettings& settings)
      : driver_(context.driver),
        alignment_(context.alignment),
        rules_(settings, context.alignment),
        addresses_(context.driver, context.alignment) {}

  Placement place(const Request& request) override {
    live_.check_new(request, alignment_);
    const std::size_t size = rules_.rounded(request.bytes);
    const PoolId pool = rules_.small(size) ? PoolId::small : PoolId::large;
    if (pool == PoolId::large) ++searches_;
    std::uint32_t block = search(pool, size);
    if (block == kNoBlock) block = new_segment(pool, size);
    if (block == kNoBlock) {
      throw OutOfMemory({request, size, usage(), blocks_.largest(pool),
                         driver_.reserved() + segment_bytes(size), driver_.capacity()});
    }
    if (rules_.splits(blocks_[block].bytes, size)) {
      blocks_.give_back(blocks_.split(block, size), searches_);
    }
    if (index(request.id) >= block_of_.size()) block_of_.resize(index(request.id) + 1);
    block_of_[index(request.id)] = block;
    const Placement placement{blocks_[block].offset, blocks_[block].bytes};
    live_.add(request.id, placement);
    return placement;
  }

  void release(BufferId id) override {
    live_.remove(id);
    blocks_.give_back(block_of_[index(id)], searches_);
  }

  Usage usage() const override {
    return {footprint_, driver_.reserved(), footprint_ - live_.granted()};
  }

  std::size_t largest_hole() const override {
    return std::max(blocks_.largest(PoolId::small), blocks_.largest(PoolId::large));
  }

  // Free blocks are what live ones leave of the segments. How long they have been free matters to
  // garbage collection alone.
  std::optional<std::uint64_t> fingerprint() const override {
    if (collects()) return std::nullopt;
    return LiveTable::mix(live_.hash(), segments_hash_);
  }

 private:
  bool collects() const { return rules_.settings().garbage_collection_threshold > 0; }
  bool oversize(std::size_t bytes) const { return bytes >= rules_.settings().max_split_size; }

  std::uint32_t search(PoolId pool, std::size_t size) {
    const auto best = blocks_.pool(pool).lower_bound({size, 0});
    if (best == blocks_.pool(pool).end() || !rules_.serves(best->bytes, size)) return kNoBlock;
    const std::uint32_t block = best->block;
    blocks_.take(block);
    return block;
  }

  std::size_t segment_bytes(std::size_t size) const {
    return round_up(rules_.segment(size), addresses_.step());
  }

  /// First simply from the driver, then after giving back what blocks too large to be split take,
  /// then after giving back all that is cached.
  std::uint32_t new_segment(PoolId pool, std::size_t size) {
    if (collects()) collect_garbage();
    std::uint32_t block = ask_driver(pool, size);
    if (block == kNoBlock && release_oversize(pool, size)) block = ask_driver(pool, size);
    if (block == kNoBlock) {
      for (const PoolId id : kPools) {
        release_segments(id, [](const FreeBlock&) { return true; });
      }
      block = ask_driver(pool, size);
    }
    return block;
  }

  std::uint32_t ask_driver(PoolId pool, std::size_t size) {
    const std::size_t bytes = segment_bytes(size);
    if (driver_.committable(bytes) == 0) return kNoBlock;
    const std::size_t offset = addresses_.take(bytes);
    if (!driver_.commit(offset, bytes)) {
      addresses_.give_back(offset, bytes);
      return kNoBlock;
    }
    footprint_ += bytes;
    segments_hash_ += segment_hash(offset, bytes, pool);
    return blocks_.add(offset, bytes, BlockState::used, pool);
  }

  void release_segment(std::uint32_t block) {
    blocks_.take(block);
    const auto [offset, bytes] = std::pair(blocks_[block].offset, blocks_[block].bytes);
    driver_.decommit(offset, bytes);
    addresses_.give_back(offset, bytes);
    footprint_ -= bytes;
    segments_hash_ -= segment_hash(offset, bytes, blocks_.pool_of(block));
    blocks_.drop(block);
  }

  /// Gives back the free segments of a pool that `chosen` says; returns their bytes.
  template <class Chosen>
  std::size_t release_segments(PoolId pool, Chosen chosen) {
    std::vector<FreeBlock> segments;
    for (const FreeBlock& f : blocks_.pool(pool)) {
      if (blocks_.whole(f.block) && chosen(f)) segments.push_back(f);
    }
    std::size_t bytes = 0;
    for (const FreeBlock& f : segments) {
      bytes += f.bytes;
      release_segment(f.block);
    }
    return bytes;
  }

  /// The smallest one that is as large as the request, or as many as it takes, largest first. False
  /// when that doesn't reach the request.
  bool release_oversize(PoolId pool, std::size_t size) {
    if (rules_.settings().max_split_size == CachingSettings{}.max_split_size) return false;
    const std::size_t wanted = std::max(size, rules_.settings().max_split_size);
    const CachedBlocks::Pool& free = blocks_.pool(pool);
    if (const auto one = free.lower_bound({wanted, 0}); one != free.end()) {
      release_segment(one->block);
      return true;
    }
    std::size_t released = 0;
    while (released < wanted && !free.empty() && oversize(free.rbegin()->bytes)) {
      released += free.rbegin()->bytes;
      release_segment(free.rbegin()->block);
    }
    return released >= wanted;
  }

  /// Gives back large segments of average age or more, a block's age being the searches of the pool
  /// since it was freed, until the footprint is down at the threshold or nothing is left.
  void collect_garbage() {
    const auto threshold = static_cast<std::size_t>(rules_.settings().garbage_collection_threshold *
                                                    static_cast<double>(driver_.capacity()));
    if (footprint_ <= threshold) return;
    const std::size_t target = footprint_ - threshold;
    std::size_t reclaimed = 0;
    while (reclaimed < target) {
      std::uint64_t ages = 0, count = 0;
      for (const FreeBlock& f : blocks_.pool(PoolId::large)) {
        if (!blocks_.whole(f.block)) continue;
        ages += searches_ - f.since;
        ++count;
      }
      const std::size_t bytes = release_segments(
          PoolId::large, [&](const FreeBlock& f) { return (searches_ - f.since) * count >= ages; });
      if (bytes == 0) return;
      reclaimed += bytes;
    }
  }

  static std::uint64_t segment_hash(std::size_t offset, std::size_t bytes, PoolId pool) {
    return LiveTable::mix(offset, 2 * bytes + static_cast<std::uint64_t>(pool));
  }

  Driver& driver_;
  std::size_t alignment_;
  CachingRules rules_;
  AddressSpace addresses_;
  CachedBlocks blocks_;
  LiveTable live_;
  std::vector<std::uint32_t> block_of_;  // by buffer id
  std::size_t footprint_ = 0;            // bytes of all segments
  std::uint64_t segments_hash_ = 0;
  std::uint64_t searches_ = 0;  // of the large pool
};

}  // namespace

std::unique_ptr<AllocationStrategy> make_caching(const StrategyContext& context,
                                                 const CachingSettings& settings) {
  return std::make_unique<Caching>(context, settings);
}

std::unique_ptr<AllocationStrategy> make_caching(const StrategyContext& context) {
  return make_caching(context, {});
}

}  // namespace arenagrad
