#include "tests/allocator/model_check.h"

#include <random>

#include "allocator/ledger.h"
#include "tests/allocator/models.h"

namespace arenagrad::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Check {
 public:
  Check(std::string_view strategy, std::uint32_t seed)
      : name_(strategy),
        random_(seed),
        context_(choose_context()),
        driver_(context_.capacity, context_.granule) {
    driver_.on_call([this](DriverCall call, std::size_t offset, std::size_t bytes) {
      ledger_.driver_called(call, offset, bytes);
    });
    const StrategyContext made{driver_, context_.alignment, {}};
    strategy_ = strategy == "caching"      ? make_caching(made, context_.settings)
                : strategy == "expandable" ? make_expandable(made, context_.settings)
                                           : find_strategy(strategy).make(made);
    model_ = make_model(strategy, context_);
  }

  std::string run() {
    const int operations = 100 + pick(400);
    for (int i = 0; i < operations; ++i) {
      std::string problem = operation();
      if (problem.empty() && model_->footprint() != strategy_->usage().footprint) {
        problem = "a footprint of " + std::to_string(strategy_->usage().footprint) + ", expected " +
                  std::to_string(model_->footprint());
      }
      if (problem.empty()) continue;
      return "operation " + std::to_string(i) + ": " + problem + "; capacity " +
             std::to_string(context_.capacity) + ", granule " + std::to_string(context_.granule) +
             ", alignment " + std::to_string(context_.alignment);
    }
    return "";
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  ModelContext choose_context() {
    largest_ = std::size_t{1} << (6 + pick(24));
    typical_live_ = 4 + pick(40);
    ModelContext context{};
    context.alignment = std::size_t{1} << (pick(3) == 0 ? pick(13) : 9);
    context.granule = pick(2) == 0 ? 1 : std::size_t{1} << (12 + pick(10));
    const std::size_t about = largest_ * static_cast<std::size_t>(typical_live_) / 3;
    context.capacity = pick(3) == 0 ? kUnlimited : about / 2 + random_() % about + 4 * kMiB;
    if (name_ == "caching" || name_ == "expandable") {
      for (std::size_t& divisions : context.settings.roundup_power2_divisions) {
        divisions = pick(2) == 0 ? 0 : std::size_t{1} << pick(5);
      }
    }
    if (name_ == "caching") {
      context.capacity = std::max(context.capacity, 44 * kMiB);
      if (pick(2) == 0) context.settings.max_split_size = (21 + random_() % 20) * kMiB;
      if (pick(2) == 0) context.settings.max_non_split_rounding = (1 + random_() % 20) * kMiB;
      if (pick(3) == 0) context.settings.garbage_collection_threshold = 0.25 * (1 + pick(3));
    }
    for (int i = 0; i < 6; ++i) sizes_.push_back(1 + random_() % largest_);
    return context;
  }

  std::size_t size() {
    switch (pick(4)) {
      case 0: return 1 + random_() % largest_;
      case 1: return 1 + random_() % (1 + largest_ / 16);
      default: return sizes_[static_cast<std::size_t>(pick(6))];
    }
  }

  std::string operation() {
    const int live = static_cast<int>(live_.size());
    if (live > 0 && pick(2 * typical_live_) < live) {
      const auto victim = static_cast<std::size_t>(pick(live));
      const BufferId id = live_[victim];
      live_[victim] = live_.back();
      live_.pop_back();
      strategy_->release(id);
      model_->release(id);
      ledger_.freed(id, strategy_->usage());
      return "";
    }
    const Request request{BufferId{next_++}, size(), context_.alignment,
                          static_cast<Category>(pick(kCategoryCount))};
    const std::optional<Pieces> expected = model_->place(request);
    try {
      const Placement placement = strategy_->place(request);
      ledger_.allocated(request, placement, strategy_->usage());
      live_.push_back(request.id);
      const Pieces got = driver_.memory_behind(placement.offset, placement.granted);
      return expected == got ? "" : told(request, got, expected);
    } catch (const OutOfMemory&) {
      return expected ? told(request, std::nullopt, expected) : "";
    }
  }

  static std::string show(const std::optional<Pieces>& pieces) {
    if (!pieces) return "a refusal";
    std::string text;
    for (const auto& [offset, bytes] : *pieces) {
      text += (text.empty() ? "" : " and ") + std::to_string(bytes) + " bytes at " +
              std::to_string(offset);
    }
    return text;
  }

  static std::string told(const Request& request, const std::optional<Pieces>& got,
                          const std::optional<Pieces>& expected) {
    return "a request of " + std::to_string(request.bytes) + " bytes: " + show(got) +
           ", expected " + show(expected);
  }

  std::string_view name_;
  std::mt19937 random_;
  std::size_t largest_ = 0;  // request
  int typical_live_ = 0;
  std::vector<std::size_t> sizes_;  // that come back often
  ModelContext context_;
  SimulatedDriver driver_;
  Ledger ledger_;  // checks the books
  std::unique_ptr<AllocationStrategy> strategy_;
  std::unique_ptr<Model> model_;
  std::vector<BufferId> live_;
  std::uint32_t next_ = 0;
};

}  // namespace

std::vector<std::string_view> modelled_strategies() {
  std::vector<std::string_view> names;
  for (const StrategyInfo& info : strategies()) {
    if (make_model(info.name, {kUnlimited, 1, 1}) != nullptr) names.push_back(info.name);
  }
  return names;
}

std::string check_against_model(std::string_view strategy, std::uint32_t seed) {
  return Check(strategy, seed).run();
}

}  // namespace arenagrad::testing
