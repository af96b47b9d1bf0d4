// The holes of a heap, found by a fitting rule in O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace arenagrad {

enum class Fit {
  best,   // the smallest sufficient hole, the lowest among equals
  first,  // the lowest sufficient hole
};

struct Hole {
  std::size_t offset;
  std::size_t bytes;
  std::uint32_t block;  // the owner's handle
};

/// A treap ordered by what the rule prefers, each node knowing the largest hole beneath it. Its
/// shape depends on the holes alone (priorities are hashes of offsets), answers not even on that.
template <Fit kFit>
class HoleTree {
 public:
  void insert(const Hole& hole) {
    std::uint32_t node;
    if (spare_.empty()) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      node = spare_.back();
      spare_.pop_back();
    }
    nodes_[node] = {hole, hole.bytes, priority(hole.offset), kNone, kNone};
    insert_at(root_, node);
  }

  /// The hole must be in the tree.
  void erase(const Hole& hole) { erase_at(root_, hole); }

  /// The hole to use for `bytes`, null when none is large enough; valid until the next change.
  const Hole* find(std::size_t bytes) const {
    if (largest() < bytes) return nullptr;
    std::uint32_t node = root_;
    const Hole* best = nullptr;
    while (node != kNone) {
      const Node& n = nodes_[node];
      if constexpr (kFit == Fit::best) {
        if (n.hole.bytes >= bytes) best = &n.hole;
        node = n.hole.bytes >= bytes ? n.left : n.right;
      } else {
        if (max_of(n.left) >= bytes) {
          node = n.left;
        } else if (n.hole.bytes >= bytes) {
          return &n.hole;
        } else {
          node = n.right;
        }
      }
    }
    return best;
  }

  /// Bytes of the largest hole, 0 when there is none.
  std::size_t largest() const { return max_of(root_); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Node {
    Hole hole;
    std::size_t max;  // bytes of the largest hole in this subtree
    std::uint32_t priority;
    std::uint32_t left, right;
  };

  static std::uint32_t priority(std::size_t offset) {
    const std::uint64_t x = (offset ^ (offset >> 31)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::uint32_t>((x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull >> 32);
  }

  static bool before(const Hole& a, const Hole& b) {
    if constexpr (kFit == Fit::best) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.offset < b.offset;
    } else {
      return a.offset < b.offset;
    }
  }

  std::size_t max_of(std::uint32_t node) const { return node == kNone ? 0 : nodes_[node].max; }

  void update(std::uint32_t node) {
    Node& n = nodes_[node];
    n.max = n.hole.bytes;
    if (max_of(n.left) > n.max) n.max = max_of(n.left);
    if (max_of(n.right) > n.max) n.max = max_of(n.right);
  }

  void insert_at(std::uint32_t& root, std::uint32_t node) {
    if (root == kNone) {
      root = node;
    } else if (nodes_[node].priority > nodes_[root].priority) {
      const std::uint32_t old = root;
      split(old, nodes_[node].hole, nodes_[node].left, nodes_[node].right);
      root = node;
    } else {
      insert_at(
          before(nodes_[node].hole, nodes_[root].hole) ? nodes_[root].left : nodes_[root].right,
          node);
    }
    update(root);
  }

  void erase_at(std::uint32_t& root, const Hole& hole) {
    Node& n = nodes_[root];
    if (n.hole.offset == hole.offset) {
      spare_.push_back(root);
      root = merge(n.left, n.right);
      return;
    }
    erase_at(before(hole, n.hole) ? n.left : n.right, hole);
    update(root);
  }

  /// Cuts `root` into what comes before `hole` and what comes after it.
  void split(std::uint32_t root, const Hole& hole, std::uint32_t& left, std::uint32_t& right) {
    if (root == kNone) {
      left = right = kNone;
      return;
    }
    if (before(nodes_[root].hole, hole)) {
      left = root;
      split(nodes_[root].right, hole, nodes_[root].right, right);
    } else {
      right = root;
      split(nodes_[root].left, hole, left, nodes_[root].left);
    }
    update(root);
  }

  std::uint32_t merge(std::uint32_t left, std::uint32_t right) {
    if (left == kNone || right == kNone) return left == kNone ? right : left;
    if (nodes_[left].priority > nodes_[right].priority) {
      nodes_[left].right = merge(nodes_[left].right, right);
      update(left);
      return left;
    }
    nodes_[right].left = merge(left, nodes_[right].left);
    update(right);
    return right;
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> spare_;  // unused nodes
  std::uint32_t root_ = kNone;
};

}  // namespace arenagrad
