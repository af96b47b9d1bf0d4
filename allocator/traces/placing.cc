#include "allocator/traces/placing.h"

#include <unordered_map>
#include <vector>

#include "allocator/strategy.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

class Placing final : public TraceSink {
 public:
  explicit Placing(std::unique_ptr<TraceSink> sink) : sink_(std::move(sink)) {}

  void begin(const TraceHeader& header) override {
    alignment_ = header.alignment;
    sink_->begin(header);
  }

  void event(const TraceEvent& event) override {
    switch (event.kind) {
      case Kind::allocate: return allocate(event);
      case Kind::free: return free(event);
      default:
        // Which driver calls there will be is known at the first allocation.
        if (mode_ == Mode::unknown) return early_.event(event);
        pass(event);
    }
  }

  void end() override {
    if (mode_ == Mode::unknown) decide(Mode::given);
    sink_->end();
  }

 private:
  enum class Mode { unknown, given, placed };

  /// The trace's own driver calls mean nothing where its buffers are placed anew.
  void pass(const TraceEvent& event) {
    const bool driver_call = event.kind >= Kind::reserve && event.kind <= Kind::unmap;
    if (!(driver_call && mode_ == Mode::placed)) sink_->event(event);
  }

  void allocate(const TraceEvent& event) {
    const bool has = event.offset != kUnknownOffset;
    if (mode_ == Mode::unknown) decide(has ? Mode::given : Mode::placed);
    if (mode_ == Mode::given) {
      if (!has) {
        throw TraceError("allocation of buffer " + std::to_string(event.id) +
                         ": expected an offset, as earlier ones have, got none");
      }
      return pass(event);
    }
    const BufferId slot = take_slot();
    slots_[event.id] = slot;
    TraceEvent placed = event;
    try {
      const Placement placement =
          strategy_->place({slot, event.bytes, alignment_, event.category.value_or(Category{})});
      placed.offset = placement.offset;
      placed.granted = placement.granted;
    } catch (const OutOfMemory& error) {
      throw TraceError("placing a trace without offsets: " + std::string(error.what()));
    }
    pass(placed);
  }

  void free(const TraceEvent& event) {
    if (mode_ == Mode::placed) {
      const auto found = slots_.find(event.id);
      check_contract(found != slots_.end(), "a trace frees what is not live");
      strategy_->release(found->second);
      free_slots_.push_back(found->second);
      slots_.erase(found);
    }
    pass(event);
  }

  void decide(Mode mode) {
    mode_ = mode;
    for (const TraceEvent& event : early_.events()) pass(event);
    early_ = TraceLog(0);
    if (mode == Mode::given) return;
    driver_ = std::make_unique<SimulatedDriver>(kUnlimited, kGranule);
    driver_->on_call([this](DriverCall call, std::size_t offset, std::size_t bytes) {
      constexpr Kind kinds[] = {Kind::reserve,  Kind::release, Kind::commit,
                                Kind::decommit, Kind::map,     Kind::unmap};
      sink_->event(
          {.kind = kinds[static_cast<std::size_t>(call)], .bytes = bytes, .offset = offset});
    });
    strategy_ = find_strategy("best-fit").make({*driver_, alignment_, {}});
  }

  BufferId take_slot() {
    if (free_slots_.empty()) return BufferId{next_slot_++};
    const BufferId slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  static constexpr std::size_t kMostEarly = std::size_t{1} << 20;
  static constexpr std::size_t kGranule = std::size_t{2} << 20;

  std::unique_ptr<TraceSink> sink_;
  std::size_t alignment_ = 1;
  Mode mode_ = Mode::unknown;
  TraceLog early_{kMostEarly};  // what comes before the first allocation
  std::unique_ptr<SimulatedDriver> driver_;
  std::unique_ptr<AllocationStrategy> strategy_;
  std::unordered_map<std::uint64_t, BufferId> slots_;
  std::vector<BufferId> free_slots_;
  std::uint32_t next_slot_ = 0;
};

}  // namespace

std::unique_ptr<TraceSink> make_placing(std::unique_ptr<TraceSink> sink) {
  return std::make_unique<Placing>(std::move(sink));
}

}  // namespace arenagrad
