#include <algorithm>
#include <map>
#include <set>

#include "tests/allocator/models.h"

namespace arenagrad::testing {

std::size_t caching_size(const ModelContext& context, std::size_t bytes) {
  const std::size_t unit = std::max<std::size_t>(512, context.alignment);
  std::size_t interval = 0;
  for (std::size_t limit = std::size_t{2} << 20; bytes >= limit && interval < 15; limit *= 2) {
    ++interval;
  }
  const std::size_t divisions = context.settings.roundup_power2_divisions[interval];
  std::size_t size = unit;
  if (divisions <= 1 || bytes <= unit * divisions) {
    while (size < bytes) size += unit;
    return size;
  }
  std::size_t power = 1;
  while (2 * power <= bytes) power *= 2;
  for (size = power; size < bytes;) size += power / divisions;
  return size;
}

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Block {
  std::size_t offset, bytes;
  bool used = false;
  BufferId id = kNoBuffer;
  std::uint64_t freed = 0;  // large requests until then
};

struct Segment {
  std::size_t offset, bytes;
  bool small;
  std::vector<Block> blocks;
};

class CachingModel final : public Model {
 public:
  explicit CachingModel(const ModelContext& context)
      : context_(context), step_(std::max(context.granule, context.alignment)) {}

  std::optional<Pieces> place(const Request& request) override {
    const std::size_t size = caching_size(context_, request.bytes);
    const bool small = size <= kMiB;
    if (!small) ++searches_;
    Block* block = find(size, small);
    if (block == nullptr) {
      collect();
      if (!map(size, small)) {
        const bool enough = release_oversize(size, small);
        if (!enough || !map(size, small)) {
          release([](const Segment&) { return true; });
          if (!map(size, small)) return std::nullopt;
        }
      }
      block = &newest()->blocks.front();
    }
    return Pieces{cut(block->offset, size, request.id)};
  }

  void release(BufferId id) override {
    for (Segment& segment : segments_) {
      auto& blocks = segment.blocks;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!blocks[i].used || blocks[i].id != id) continue;
        blocks[i] = {blocks[i].offset, blocks[i].bytes, false, kNoBuffer, searches_};
        for (std::size_t j = blocks.size() - 1; j > 0; --j) {
          if (blocks[j].used || blocks[j - 1].used) continue;
          blocks[j - 1].bytes += blocks[j].bytes;
          blocks[j - 1].freed = searches_;
          blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(j));
        }
        return;
      }
    }
  }

  std::size_t footprint() const override {
    std::size_t bytes = 0;
    for (const Segment& segment : segments_) bytes += segment.bytes;
    return bytes;
  }

 private:
  /// The smallest that is large enough, the lowest among equals, if it may serve.
  Block* find(std::size_t size, bool small) {
    Block* best = nullptr;
    for (Segment& segment : segments_) {
      for (Block& block : segment.blocks) {
        if (segment.small != small || block.used || block.bytes < size) continue;
        if (best == nullptr || block.bytes < best->bytes) best = &block;
      }
    }
    const std::size_t most = context_.settings.max_split_size;
    if (best == nullptr || (size < most && best->bytes >= most) ||
        (size >= most && best->bytes >= size + context_.settings.max_non_split_rounding)) {
      return nullptr;
    }
    return best;
  }

  bool map(std::size_t size, bool small) {
    std::size_t bytes = small ? 2 * kMiB : size < 10 * kMiB ? 20 * kMiB : round_up(size, 2 * kMiB);
    bytes = round_up(bytes, step_);
    if (footprint() + bytes > context_.capacity) return false;
    // Segments are in order of address: the lowest gap between two, in a range of addresses.
    const std::size_t range =
        round_up(std::min(4 * context_.capacity, std::size_t{1} << 42), step_);
    std::size_t at = 0;
    auto next = segments_.begin();
    while (true) {
      if (at / range != (at + bytes - 1) / range) at = round_up(at, range);
      if (next == segments_.end() || at + bytes <= next->offset) break;
      at = std::max(at, next->offset + next->bytes);
      ++next;
    }
    newest_ = at;
    segments_.insert(next, {at, bytes, small, {{at, bytes, false, kNoBuffer, searches_}}});
    return true;
  }

  std::vector<Segment>::iterator newest() {
    return std::find_if(segments_.begin(), segments_.end(),
                        [&](const Segment& segment) { return segment.offset == newest_; });
  }

  Driver::Piece cut(std::size_t offset, std::size_t size, BufferId id) {
    for (Segment& segment : segments_) {
      for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
        Block& block = segment.blocks[i];
        if (block.offset != offset) continue;
        const std::size_t rest = block.bytes - size;
        const std::size_t unit = std::max<std::size_t>(512, context_.alignment);
        const bool split =
            segment.small ? rest >= unit : size < context_.settings.max_split_size && rest > kMiB;
        block.used = true;
        block.id = id;
        if (split) {
          block.bytes = size;
          segment.blocks.insert(segment.blocks.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                {offset + size, rest, false, kNoBuffer, searches_});
        }
        return {offset, segment.blocks[i].bytes};
      }
    }
    return {0, 0};
  }

  static bool idle(const Segment& segment) {
    return segment.blocks.size() == 1 && !segment.blocks.front().used;
  }

  template <class Which>
  std::size_t release(Which which) {
    const std::size_t before = footprint();
    std::erase_if(segments_, [&](const Segment& s) { return idle(s) && which(s); });
    return before - footprint();
  }

  bool release_oversize(std::size_t size, bool small) {
    const std::size_t most = context_.settings.max_split_size;
    if (most == CachingSettings{}.max_split_size) return false;
    const std::size_t wanted = std::max(size, most);
    std::vector<std::pair<std::size_t, std::size_t>> oversize;  // bytes and offset
    for (const Segment& segment : segments_) {
      if (idle(segment) && segment.small == small && segment.bytes >= most) {
        oversize.emplace_back(segment.bytes, segment.offset);
      }
    }
    std::sort(oversize.begin(), oversize.end());
    std::set<std::size_t> chosen;
    std::size_t bytes = 0;
    const auto one =
        std::lower_bound(oversize.begin(), oversize.end(), std::pair(wanted, std::size_t{0}));
    if (one != oversize.end()) {
      chosen.insert(one->second);
      bytes = one->first;
    } else {
      for (; !oversize.empty() && bytes < wanted; oversize.pop_back()) {
        bytes += oversize.back().first;
        chosen.insert(oversize.back().second);
      }
    }
    release([&](const Segment& segment) { return chosen.contains(segment.offset); });
    return bytes >= wanted;
  }

  void collect() {
    const auto limit = static_cast<std::size_t>(context_.settings.garbage_collection_threshold *
                                                static_cast<double>(context_.capacity));
    while (limit > 0 && footprint() > limit) {
      double ages = 0, count = 0;
      for (const Segment& s : segments_) {
        if (s.small || !idle(s)) continue;
        ages += static_cast<double>(searches_ - s.blocks.front().freed);
        ++count;
      }
      const std::size_t bytes = release([&](const Segment& s) {
        return !s.small && static_cast<double>(searches_ - s.blocks.front().freed) * count >= ages;
      });
      if (bytes == 0) return;
    }
  }

  ModelContext context_;
  std::size_t step_;
  std::vector<Segment> segments_;  // by offset
  std::size_t newest_ = 0;
  std::uint64_t searches_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_caching_model(const ModelContext& context) {
  return std::make_unique<CachingModel>(context);
}

}  // namespace arenagrad::testing
