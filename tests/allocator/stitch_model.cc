#include <algorithm>
#include <map>

#include "tests/allocator/models.h"

namespace arenagrad::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Of pages or of bytes.
struct Span {
  std::size_t offset, bytes;
  std::size_t end() const { return offset + bytes; }
};

class StitchModel final : public Model {
 public:
  explicit StitchModel(const ModelContext& context)
      : context_(context),
        page_(round_up(2 * kMiB, std::max(context.granule, context.alignment))) {}

  std::optional<Pieces> place(const Request& request) override {
    const std::size_t size = caching_size(context_, request.bytes);
    if (size <= kMiB) return place_small(request.id, size);
    const auto pages = take((size + page_ - 1) / page_);
    if (!pages) return std::nullopt;
    large_[request.id] = *pages;
    return pieces(*pages);
  }

  void release(BufferId id) override {
    if (const auto it = large_.find(id); it != large_.end()) {
      for (const std::size_t page : it->second) free_[page] = true;
      for (Stitched& s : stitched_) {
        if (s.used && s.pages == it->second) s.used = false;
      }
      large_.erase(it);
      return;
    }
    for (auto& [page, blocks] : small_) {
      if (std::erase_if(blocks, [&](const auto& entry) { return entry.second.first == id; }) == 0) {
        continue;
      }
      if (blocks.empty()) {
        free_[page] = true;
        small_.erase(page);
      }
      return;
    }
  }

  std::size_t footprint() const override { return free_.size() * page_; }

 private:
  using Pages = std::vector<std::size_t>;
  struct Stitched {
    Pages pages;
    bool used;
  };

  Pieces pieces(const Pages& pages) const {
    Pieces pieces;
    for (const std::size_t page : pages) {
      const std::size_t offset = page * page_;
      if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == offset) {
        pieces.back().bytes += page_;
      } else {
        pieces.push_back({offset, page_});
      }
    }
    return pieces;
  }

  /// Free neighbours, by place.
  std::vector<Span> runs() const {
    std::vector<Span> runs;
    for (std::size_t page = 0; page < free_.size(); ++page) {
      if (!free_[page]) continue;
      if (runs.empty() || runs.back().end() != page) runs.push_back({page, 0});
      ++runs.back().bytes;
    }
    return runs;
  }

  std::optional<Pages> take(std::size_t n) {
    std::optional<Span> best;
    for (const Span& run : runs()) {
      if (run.bytes >= n && (!best || run.bytes < best->bytes)) best = run;
    }
    Pages pages;
    if (best) {
      for (std::size_t i = 0; i < n; ++i) pages.push_back(best->offset + i);
      return use(pages);
    }
    for (Stitched& s : stitched_) {
      if (s.pages.size() == n &&
          std::all_of(s.pages.begin(), s.pages.end(), [&](std::size_t p) { return free_[p]; })) {
        s.used = true;
        return use(s.pages);
      }
    }
    const auto have = static_cast<std::size_t>(std::count(free_.begin(), free_.end(), true));
    if (n > have) {
      if ((free_.size() + n - have) * page_ > context_.capacity) return std::nullopt;
      free_.resize(free_.size() + n - have, true);
    }
    std::vector<Span> largest = runs();
    std::stable_sort(largest.begin(), largest.end(), [](const Span& a, const Span& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.offset > b.offset;
    });
    for (const Span& run : largest) {
      for (std::size_t i = 0; i < run.bytes && pages.size() < n; ++i) {
        pages.push_back(run.offset + i);
      }
    }
    std::sort(pages.begin(), pages.end());
    if (pieces(pages).size() > 1) stitch(pages);
    return use(pages);
  }

  void stitch(const Pages& pages) {
    std::size_t total = pages.size();
    for (const Stitched& s : stitched_) total += s.pages.size();
    for (std::size_t i = 0;
         i < stitched_.size() && total > std::max(4 * free_.size(), pages.size());) {
      if (stitched_[i].used) {
        ++i;
        continue;
      }
      total -= stitched_[i].pages.size();
      stitched_.erase(stitched_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    stitched_.push_back({pages, true});
  }

  Pages use(const Pages& pages) {
    for (const std::size_t page : pages) free_[page] = false;
    return pages;
  }

  /// The smallest gap of any shared page, the lowest among equals, else a page's begin.
  std::optional<Pieces> place_small(BufferId id, std::size_t size) {
    std::optional<Span> best;
    const auto look = [&](std::size_t begin, std::size_t end) {
      const std::size_t bytes = end - begin;
      if (bytes >= size && (!best || bytes < best->bytes)) best = Span{begin, bytes};
    };
    for (const auto& [page, blocks] : small_) {
      std::size_t below = page * page_;
      for (const auto& [offset, block] : blocks) {
        look(below, offset);
        below = offset + block.second;
      }
      look(below, (page + 1) * page_);
    }
    if (!best) {
      const auto pages = take(1);
      if (!pages) return std::nullopt;
      best = Span{pages->front() * page_, page_};
    }
    small_[best->offset / page_][best->offset] = {id, size};
    return Pieces{{best->offset, size}};
  }

  ModelContext context_;
  std::size_t page_;
  std::vector<bool> free_;  // by page
  std::vector<Stitched> stitched_;
  std::map<BufferId, Pages> large_;
  std::map<std::size_t, std::map<std::size_t, std::pair<BufferId, std::size_t>>> small_;
};

}  // namespace

std::unique_ptr<Model> make_stitch_model(const ModelContext& context) {
  return std::make_unique<StitchModel>(context);
}

}  // namespace arenagrad::testing
