// The blocks of PyTorch's allocator: two pools of free ones, ordered by size and address, and the
// chains of neighbours that they and the used ones make.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "allocator/block_chain.h"

namespace arenagrad {

enum class PoolId : std::uint8_t { small, large };
inline constexpr PoolId kPools[] = {PoolId::large, PoolId::small};  // in the order they are emptied

struct FreeBlock {
  std::size_t bytes, offset;
  std::uint32_t block = kNoBlock;
  std::uint64_t since = 0;  // the clock when it was freed

  friend bool operator<(const FreeBlock& a, const FreeBlock& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.offset < b.offset;
  }
};

class CachedBlocks {
 public:
  using Pool = std::set<FreeBlock>;

  /// A used or unmapped block without neighbours.
  std::uint32_t add(std::size_t offset, std::size_t bytes, BlockState state, PoolId pool) {
    const std::uint32_t block = chain_.add({offset, bytes, kNoBlock, kNoBlock, state});
    own(block, pool);
    return block;
  }

  /// The first `bytes` of a used or unmapped block; what is left follows in the same state.
  std::uint32_t split(std::uint32_t block, std::size_t bytes) {
    const std::uint32_t rest = chain_.split(block, bytes);
    own(rest, pool_of(block));
    return rest;
  }

  /// A free block becomes used.
  void take(std::uint32_t block) {
    erase(block);
    chain_[block].state = BlockState::used;
  }

  /// A used or unmapped block becomes free and merges with free neighbours.
  std::uint32_t give_back(std::uint32_t block, std::uint64_t clock) {
    block = merge(block, BlockState::free);
    pools_[index(pool_of(block))].insert({chain_[block].bytes, chain_[block].offset, block, clock});
    return block;
  }

  /// A used block loses its memory and merges with neighbours that have none.
  std::uint32_t unmap(std::uint32_t block) { return merge(block, BlockState::unmapped); }

  /// A used block with no neighbours ceases to be.
  void drop(std::uint32_t block) { chain_.drop(block); }

  /// Whether a block is all there is of its chain.
  bool whole(std::uint32_t block) const {
    return chain_[block].prev == kNoBlock && chain_[block].next == kNoBlock;
  }

  const Block& operator[](std::uint32_t block) const { return chain_[block]; }
  const BlockChain& chain() const { return chain_; }
  PoolId pool_of(std::uint32_t block) const { return pool_of_[block]; }
  const Pool& pool(PoolId id) const { return pools_[index(id)]; }
  std::size_t largest(PoolId id) const { return pool(id).empty() ? 0 : pool(id).rbegin()->bytes; }

 private:
  static std::size_t index(PoolId id) { return static_cast<std::size_t>(id); }

  void own(std::uint32_t block, PoolId pool) {
    if (block >= pool_of_.size()) pool_of_.resize(block + 1);
    pool_of_[block] = pool;
  }

  void erase(std::uint32_t block) {
    pools_[index(pool_of(block))].erase({chain_[block].bytes, chain_[block].offset});
  }

  std::uint32_t merge(std::uint32_t block, BlockState state) {
    if (const std::uint32_t next = chain_[block].next; chain_.is(next, state)) {
      if (state == BlockState::free) erase(next);
      chain_.swallow_next(block);
    }
    if (const std::uint32_t prev = chain_[block].prev; chain_.is(prev, state)) {
      if (state == BlockState::free) erase(prev);
      chain_.swallow_next(prev);
      block = prev;
    }
    chain_[block].state = state;
    return block;
  }

  BlockChain chain_;
  std::vector<PoolId> pool_of_;  // by block
  Pool pools_[2];
};

}  // namespace arenagrad
