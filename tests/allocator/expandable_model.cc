#include <algorithm>
#include <map>
#include <set>

#include "tests/allocator/models.h"

namespace arenagrad::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Span {
  std::size_t offset, bytes;
  std::size_t end() const { return offset + bytes; }
};

/// A pool's range of addresses: what is mapped, page by page, and what is used.
struct PageRange {
  std::size_t base, bytes, page;
  std::set<std::size_t> mapped;      // pages, from the base
  std::map<std::size_t, Span> used;  // by offset

  enum class State { used, free, unmapped };
  struct Tile {
    Span span;
    State state;
  };
  /// The whole range, neighbours of one state joined unless they are used.
  std::vector<Tile> tiles() const {
    std::vector<Tile> tiles;
    const auto add = [&](std::size_t begin, std::size_t end, State state) {
      if (begin == end) return;
      if (state != State::used && !tiles.empty() && tiles.back().state == state) {
        tiles.back().span.bytes += end - begin;
      } else {
        tiles.push_back({{begin, end - begin}, state});
      }
    };
    std::size_t at = base;
    // Up to `end`, none of which is used.
    const auto fill = [&](std::size_t end) {
      while (at < end) {
        const std::size_t index = (at - base) / page;
        const auto next = mapped.lower_bound(index);
        const bool is_mapped = next != mapped.end() && *next == index;
        const std::size_t upto = is_mapped              ? base + (index + 1) * page
                                 : next == mapped.end() ? end
                                                        : base + *next * page;
        add(at, std::min(end, upto), is_mapped ? State::free : State::unmapped);
        at = std::min(end, upto);
      }
    };
    for (const auto& [offset, span] : used) {
      fill(offset);
      add(offset, span.end(), State::used);
      at = span.end();
    }
    fill(base + bytes);
    return tiles;
  }
};

class ExpandableModel final : public Model {
  using State = PageRange::State;

 public:
  explicit ExpandableModel(const ModelContext& context)
      : context_(context), step_(std::max(context.granule, context.alignment)) {}

  std::optional<Pieces> place(const Request& request) override {
    const std::size_t size = caching_size(context_, request.bytes);
    const bool small = size <= kMiB;
    auto span = search(small, size);
    if (!span) span = grow(small, size);
    if (!span) {
      unmap_free();
      span = grow(small, size);
    }
    if (!span) return std::nullopt;
    const std::size_t unit = std::max<std::size_t>(512, context_.alignment);
    if (span->bytes - size >= unit) span->bytes = size;
    for (PageRange& range : ranges_[small]) {
      if (span->offset < range.base || span->offset >= range.base + range.bytes) continue;
      range.used[span->offset] = *span;
    }
    places_[request.id] = {small, span->offset};
    return Pieces{{span->offset, span->bytes}};
  }

  void release(BufferId id) override {
    const auto [small, offset] = places_.at(id);
    for (PageRange& range : ranges_[small]) range.used.erase(offset);
    places_.erase(id);
  }

  std::size_t footprint() const override {
    std::size_t bytes = 0;
    for (const auto& pool : ranges_) {
      for (const PageRange& range : pool) bytes += range.mapped.size() * range.page;
    }
    return bytes;
  }

 private:
  /// Of the free blocks that are large enough, in order of size: on to the next while it has less
  /// room to grow than the last.
  std::optional<Span> search(bool small, std::size_t size) const {
    struct Candidate {
      Span span;
      std::size_t room;
    };
    std::vector<Candidate> candidates;
    for (const PageRange& range : ranges_[small]) {
      const auto tiles = range.tiles();
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        if (tiles[i].state != State::free || tiles[i].span.bytes < size) continue;
        const bool grows = i + 1 < tiles.size() && tiles[i + 1].state == State::unmapped;
        candidates.push_back(
            {tiles[i].span, tiles[i].span.bytes + (grows ? tiles[i + 1].span.bytes : 0)});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) { return a.span.bytes < b.span.bytes; });
    if (candidates.empty()) return std::nullopt;
    std::size_t i = 0;
    while (i + 1 < candidates.size() && candidates[i + 1].room < candidates[i].room) ++i;
    return candidates[i].span;
  }

  std::optional<Span> grow(bool small, std::size_t size) {
    if (size > context_.capacity) return std::nullopt;
    while (true) {
      for (PageRange& range : ranges_[small]) {
        const auto tiles = range.tiles();
        for (std::size_t i = 0; i < tiles.size(); ++i) {
          if (tiles[i].state != State::unmapped) continue;
          std::size_t first = i;
          if (i > 0 && tiles[i - 1].state == State::free) --first;
          std::size_t room = 0;
          for (std::size_t j = first; j < tiles.size() && tiles[j].state != State::used; ++j) {
            room += tiles[j].span.bytes;
          }
          if (room < size) continue;
          return grow(range, tiles, first, size);
        }
      }
      const std::size_t page = round_up(small ? 2 * kMiB : 20 * kMiB, step_);
      const std::size_t most = context_.capacity + context_.capacity / 8;
      const std::size_t bytes =
          round_up(std::max(size, std::min(most, std::size_t{1} << 42)), page);
      ranges_[small].push_back({next_base_, bytes, page, {}, {}});
      next_base_ += bytes;
    }
  }

  /// Maps unmapped tile after tile from the first one on, each as far as it takes.
  std::optional<Span> grow(PageRange& range, const std::vector<PageRange::Tile>& tiles,
                           std::size_t first, std::size_t size) {
    Span span{tiles[first].span.offset, 0};
    for (std::size_t i = first; span.bytes < size; ++i) {
      const Span& tile = tiles[i].span;
      if (tiles[i].state == State::free) {
        span.bytes += tile.bytes;
        continue;
      }
      const std::size_t bytes = round_up(std::min(size - span.bytes, tile.bytes), range.page);
      if (footprint() + bytes > context_.capacity) return std::nullopt;
      for (std::size_t at = 0; at < bytes; at += range.page) {
        range.mapped.insert((tile.offset + at - range.base) / range.page);
      }
      span.bytes += bytes;
      // A tile mapped to its end goes on in the free one after it.
      if (bytes == tile.bytes && span.bytes >= size && i + 1 < tiles.size() &&
          tiles[i + 1].state == State::free) {
        span.bytes += tiles[i + 1].span.bytes;
      }
    }
    return span;
  }

  void unmap_free() {
    for (auto& pool : ranges_) {
      for (PageRange& range : pool) {
        std::erase_if(range.mapped, [&](std::size_t index) {
          const std::size_t begin = range.base + index * range.page;
          return std::none_of(range.used.begin(), range.used.end(), [&](const auto& entry) {
            return entry.second.offset < begin + range.page && entry.second.end() > begin;
          });
        });
      }
    }
  }

  ModelContext context_;
  std::size_t step_;
  std::size_t next_base_ = 0;
  std::vector<PageRange> ranges_[2];  // of the large and of the small pool
  std::map<BufferId, std::pair<bool, std::size_t>> places_;
};

}  // namespace

std::unique_ptr<Model> make_expandable_model(const ModelContext& context) {
  return std::make_unique<ExpandableModel>(context);
}

}  // namespace arenagrad::testing
