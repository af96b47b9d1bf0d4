// The only place that counts. It sees every event of an arena and keeps totals, peaks and a digest;
// the whole log only on request.
//
// Identities, checked at every allocation and free (ContractError names the event):
//   sum over categories of requested + rounding + holes = footprint;  footprint + slack = reserved,
// where `reserved` is what the driver calls seen so far add up to, not what the strategy says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "allocator/category.h"
#include "allocator/driver.h"
#include "allocator/request.h"

namespace arenagrad {

struct Event {
  enum class Kind : std::uint8_t { allocate, free, reserve, release, commit, decommit, map, unmap };
  Kind kind;
  Category category{};          // allocate and free only
  BufferId buffer = kNoBuffer;  // likewise
  std::size_t requested = 0;    // bytes asked for; for driver calls the size of the call
  std::size_t granted = 0;      // after rounding; 0 for driver calls
  std::size_t offset = 0;
  friend bool operator==(const Event&, const Event&) = default;
};

/// State at one event.
struct Snapshot {
  std::uint64_t event = 0;     // its 1-based number among all events, 0 = never
  std::uint64_t position = 0;  // the caller's mark at that event (see Ledger::at)
  CategoryBytes by_category{};
  std::size_t requested = 0;
};

struct Totals {
  CategoryBytes live{};       // requested bytes live now
  std::size_t requested = 0;  // sum of `live`
  std::size_t granted = 0;    // the same after rounding
  std::size_t peak_granted = 0;
  std::size_t footprint = 0;  // the strategy's highest
  std::size_t reserved = 0;   // driver memory now
  std::size_t peak_reserved = 0;
  std::uint64_t allocations = 0, frees = 0, driver_calls = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

class Ledger {
 public:
  explicit Ledger(bool keep_log = false) : keep_log_(keep_log) {}

  /// Where the caller is: an opaque mark stored with the peak (the executor uses it for the
  /// instruction).
  void at(std::uint64_t position) { position_ = position; }

  /// If set, asked for the next expected allocation or free before each is recorded; one that
  /// differs in kind, buffer or requested bytes is a ContractError, and so is any when there is
  /// none left to expect (nullopt).
  using Expectation = std::function<std::optional<Event>()>;
  void expect(Expectation next) { expectation_ = std::move(next); }

  void allocated(const Request& request, const Placement& placement, const Usage& usage);
  void freed(BufferId id, const Usage& usage);
  void driver_called(DriverCall call, std::size_t offset, std::size_t bytes);

  /// Brackets one round of a repeated part; may nest. The digest is folded round by round, so that
  /// a dry run that skips identical rounds and a real run that executes them end at the same
  /// digest.
  void begin_round();
  void end_round();
  /// Counts the round just ended `rounds` more times. The caller knows that they would be identical
  /// (the strategy's fingerprint was the same before and after it). All that can be read here is
  /// then as if they had been executed. ContractError right after anything but `end_round` or
  /// `repeat_round`, or when the round did not leave live bytes as it found them.
  void repeat_round(std::uint64_t rounds);

  const Totals& totals() const { return totals_; }
  /// Composition at the first event at which live requested bytes were highest.
  const Snapshot& peak() const { return peak_; }
  /// Buffers live at `peak()`, by id.
  std::vector<BufferId> live_at_peak() const;
  std::vector<BufferId> live_now() const;

  std::uint64_t events() const { return events_; }
  /// Order-sensitive hash over all events, driver calls and offsets included.
  std::uint64_t digest() const { return digest_; }
  const std::vector<Event>& log() const { return log_; }
  std::vector<Event> take_log() { return std::move(log_); }

 private:
  struct Life {
    std::size_t requested = 0, granted = 0, offset = 0;
    Category category{};
    std::uint64_t born = 0, died = 0;  // event numbers; live while born > died
    std::uint64_t seen_at_peak = 0;    // the peak event at which an earlier life was live
    bool live() const { return born > died; }
    bool covers(std::uint64_t event) const {
      return born > 0 && born <= event && (live() || died > event);
    }
  };
  struct Round {
    std::uint64_t outer_digest = 0, first_event = 0;
    Totals before;
  };
  struct FinishedRound {
    std::uint64_t digest = 0, events = 0, last_event = 0;
    std::uint64_t allocations = 0, frees = 0, driver_calls = 0;
    bool neutral = false;
  };

  void record(const Event& event);
  void check_expected(const Event& event);
  void check_books(const Event& event, const Usage& usage);
  void update_peak();

  bool keep_log_;
  std::vector<Round> rounds_;  // open ones, innermost last
  FinishedRound finished_;
  std::uint64_t position_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t digest_ = kEmptyDigest;
  Totals totals_;
  std::size_t footprint_ = 0;  // at the last event
  bool decommitted_ = false;   // since the last check
  Snapshot peak_;
  std::vector<Life> lives_;  // by buffer id
  std::vector<Event> log_;
  Expectation expectation_;

  static constexpr std::uint64_t kEmptyDigest = 0xcbf29ce484222325ull;
};

}  // namespace arenagrad
