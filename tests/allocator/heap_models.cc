#include <algorithm>
#include <map>

#include "tests/allocator/models.h"

namespace arenagrad::testing {
namespace {

struct Span {
  std::size_t offset, bytes;
};

/// What a heap knows: live blocks by offset, and since when each hole is one.
struct HeapState {
  std::map<std::size_t, Span> live;           // by offset
  std::map<std::size_t, std::size_t> stamps;  // when the hole at an offset last changed
  std::map<BufferId, std::size_t> offsets;
  std::size_t clock = 0, top = 0;  // the highest end so far

  std::size_t tail() const {
    return live.empty() ? 0 : live.rbegin()->second.offset + live.rbegin()->second.bytes;
  }
  std::vector<Span> holes() const {
    std::vector<Span> holes;
    std::size_t below = 0;
    for (const auto& [offset, block] : live) {
      if (offset > below) holes.push_back({below, offset - below});
      below = offset + block.bytes;
    }
    return holes;
  }
  void add(BufferId id, Span block) {
    live[block.offset] = block;
    offsets[id] = block.offset;
    top = std::max(top, block.offset + block.bytes);
    touch(block);
  }
  void remove(BufferId id) {
    const Span block = live.at(offsets.at(id));
    live.erase(block.offset);
    offsets.erase(id);
    touch(block);
  }
  /// All holes that meet the block or what it was cut from are new.
  void touch(Span block) {
    ++clock;
    for (const Span& hole : holes()) {
      if (hole.offset <= block.offset + block.bytes && hole.offset + hole.bytes >= block.offset) {
        stamps[hole.offset] = clock;
      }
    }
  }
};

enum class Rule { best, first, bfc, tlsf };

/// The lowest size of the class that `size` is in: exact below 32, then 32 steps to each doubling.
std::size_t class_floor(std::size_t size) {
  std::size_t power = 32;
  if (size < power) return size;
  while (power * 2 <= size) power *= 2;
  return size - size % (power / 32);
}

class HeapModel : public Model {
 public:
  HeapModel(Rule rule, const ModelContext& context) : rule_(rule), context_(context) {
    unit_ = rule == Rule::bfc ? std::max<std::size_t>(256, context.alignment) : context.alignment;
  }

  std::size_t granted(std::size_t bytes) const { return round_up(bytes, unit_); }

  /// In a hole, else on top where that ends at `limit` or below.
  std::optional<Span> choose(std::size_t bytes, std::size_t limit) const {
    std::optional<Span> best;
    for (const Span& hole : state.holes()) {
      if (fits(hole, bytes) && (!best || better(hole, *best))) best = hole;
    }
    if (best) {
      const bool whole = rule_ == Rule::bfc && best->bytes < 2 * bytes &&
                         best->bytes - bytes < std::size_t{1} << 27;
      return Span{best->offset, whole ? best->bytes : bytes};
    }
    if (state.tail() + bytes > limit) return std::nullopt;
    return Span{state.tail(), bytes};
  }

  std::optional<Pieces> place(const Request& request) override {
    const auto span = choose(granted(request.bytes), context_.capacity);
    if (!span) return std::nullopt;
    state.add(request.id, *span);
    return Pieces{{span->offset, span->bytes}};
  }
  void release(BufferId id) override { state.remove(id); }
  std::size_t footprint() const override { return state.top; }

  HeapState state;

 private:
  bool fits(const Span& hole, std::size_t bytes) const {
    if (rule_ != Rule::tlsf) return hole.bytes >= bytes;
    return class_floor(hole.bytes / context_.alignment) >= bytes / context_.alignment;
  }
  bool better(const Span& a, const Span& b) const {
    if (rule_ == Rule::first) return a.offset < b.offset;
    if (rule_ != Rule::tlsf) return a.bytes < b.bytes;  // the lower one was seen first
    const std::size_t x = class_floor(a.bytes / context_.alignment);
    const std::size_t y = class_floor(b.bytes / context_.alignment);
    return x != y ? x < y : state.stamps.at(a.offset) > state.stamps.at(b.offset);
  }

  Rule rule_;
  ModelContext context_;
  std::size_t unit_;
};

bool persistent(Category category) {
  switch (category) {
    case Category::parameter:
    case Category::model_state:
    case Category::optimizer_state:
    case Category::library: return true;
    default: return false;
  }
}

class TwoEndedModel final : public Model {
 public:
  explicit TwoEndedModel(const ModelContext& context)
      : context_(context),
        ends_{HeapModel(Rule::bfc, context), HeapModel(Rule::bfc, context)},
        // The second range of addresses comes after the first, which is as long as the capacity.
        bases_{0, round_up(round_up(std::min(context.capacity, std::size_t{1} << 42),
                                    std::max(context.granule, context.alignment)),
                           context.granule)} {}

  std::optional<Pieces> place(const Request& request) override {
    const int own = persistent(request.category) ? 0 : 1;
    for (const int end : {own, 1 - own}) {
      HeapModel& heap = ends_[end];
      const std::size_t left = context_.capacity - committed_[0] - committed_[1];
      const auto span = heap.choose(heap.granted(request.bytes), committed_[end] + left);
      if (!span) continue;
      heap.state.add(request.id, *span);
      const std::size_t top = std::max(committed_[end], span->offset + span->bytes);
      committed_[end] =
          committed_[end] + std::min(left, round_up(top - committed_[end], context_.granule));
      return Pieces{{bases_[end] + span->offset, span->bytes}};
    }
    return std::nullopt;
  }
  void release(BufferId id) override {
    ends_[ends_[0].state.offsets.contains(id) ? 0 : 1].release(id);
  }
  std::size_t footprint() const override { return ends_[0].footprint() + ends_[1].footprint(); }

 private:
  ModelContext context_;
  HeapModel ends_[2];
  std::size_t bases_[2];
  std::size_t committed_[2] = {0, 0};
};

class BuddyModel final : public Model {
 public:
  explicit BuddyModel(const ModelContext& context)
      : context_(context), smallest_(std::max<std::size_t>(512, context.alignment)) {}

  std::optional<Pieces> place(const Request& request) override {
    std::size_t size = smallest_;
    while (size < request.bytes) size *= 2;
    free_.clear();
    look(0, std::size_t{1} << 61);
    std::optional<Span> best;
    for (const Span& block : free_) {
      if (block.bytes >= size && (!best || block.bytes < best->bytes)) best = block;
    }
    if (best->offset + size > context_.capacity) return std::nullopt;
    live_[request.id] = {best->offset, size};
    top_ = std::max(top_, best->offset + size);
    return Pieces{{best->offset, size}};
  }
  void release(BufferId id) override { live_.erase(id); }
  std::size_t footprint() const override { return top_; }

 private:
  /// Finds the free blocks of a part of the tree, from low to high.
  void look(std::size_t offset, std::size_t bytes) {
    bool empty = true;
    for (const auto& [id, block] : live_) {
      const bool inside = block.offset < offset + bytes && block.offset + block.bytes > offset;
      if (inside && block.bytes >= bytes) return;
      empty = empty && !inside;
    }
    if (empty) {
      free_.push_back({offset, bytes});
      return;
    }
    look(offset, bytes / 2);
    look(offset + bytes / 2, bytes / 2);
  }

  ModelContext context_;
  std::size_t smallest_;
  std::map<BufferId, Span> live_;
  std::vector<Span> free_;
  std::size_t top_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_heap_model(std::string_view strategy, const ModelContext& context) {
  if (strategy == "best-fit") return std::make_unique<HeapModel>(Rule::best, context);
  if (strategy == "first-fit") return std::make_unique<HeapModel>(Rule::first, context);
  if (strategy == "bfc") return std::make_unique<HeapModel>(Rule::bfc, context);
  if (strategy == "tlsf") return std::make_unique<HeapModel>(Rule::tlsf, context);
  if (strategy == "bfc-two-ended") return std::make_unique<TwoEndedModel>(context);
  if (strategy == "buddy") return std::make_unique<BuddyModel>(context);
  return nullptr;
}

std::unique_ptr<Model> make_model(std::string_view strategy, const ModelContext& context) {
  if (strategy == "caching") return make_caching_model(context);
  if (strategy == "expandable") return make_expandable_model(context);
  if (strategy == "stitch") return make_stitch_model(context);
  return make_heap_model(strategy, context);
}

}  // namespace arenagrad::testing
