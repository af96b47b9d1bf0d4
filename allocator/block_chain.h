// Blocks that tile ranges of addresses, each linked to its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arenagrad {

inline constexpr std::uint32_t kNoBlock = 0xffffffff;

enum class BlockState : std::uint8_t {
  used,      // somebody's buffer
  free,      // memory for the next one
  unmapped,  // addresses without memory
};

struct Block {
  std::size_t offset, bytes;
  std::uint32_t prev = kNoBlock, next = kNoBlock;  // neighbours by address
  BlockState state = BlockState::used;
};

/// Handles stay valid until their block is swallowed or dropped, and are then used again.
class BlockChain {
 public:
  Block& operator[](std::uint32_t block) { return blocks_[block]; }
  const Block& operator[](std::uint32_t block) const { return blocks_[block]; }

  std::uint32_t add(const Block& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t handle = spare_.back();
    spare_.pop_back();
    blocks_[handle] = block;
    return handle;
  }

  /// Cuts a block down to its first `bytes`, fewer than it has; the rest, in the same state, is the
  /// block returned.
  std::uint32_t split(std::uint32_t block, std::size_t bytes) {
    const Block whole = blocks_[block];
    const std::uint32_t rest =
        add({whole.offset + bytes, whole.bytes - bytes, block, whole.next, whole.state});
    if (whole.next != kNoBlock) blocks_[whole.next].prev = rest;
    blocks_[block].next = rest;
    blocks_[block].bytes = bytes;
    return rest;
  }

  /// Lets a block swallow the one after it.
  void swallow_next(std::uint32_t block) {
    const std::uint32_t gone = blocks_[block].next;
    blocks_[block].bytes += blocks_[gone].bytes;
    drop(gone);
  }

  /// Takes a block out; its neighbours become each other's.
  void drop(std::uint32_t block) {
    const Block& gone = blocks_[block];
    if (gone.prev != kNoBlock) blocks_[gone.prev].next = gone.next;
    if (gone.next != kNoBlock) blocks_[gone.next].prev = gone.prev;
    spare_.push_back(block);
  }

  bool is(std::uint32_t block, BlockState state) const {
    return block != kNoBlock && blocks_[block].state == state;
  }

 private:
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> spare_;  // handles without a block
};

}  // namespace arenagrad
