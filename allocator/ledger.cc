#include "allocator/ledger.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "allocator/error.h"

namespace arenagrad {
namespace {

/// Order-sensitive: the state is multiplied between one word and the next.
std::uint64_t fold(std::uint64_t digest, std::uint64_t word) {
  const std::uint64_t x = (digest ^ (word * 0x9e3779b97f4a7c15ull)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

std::uint64_t fold(std::uint64_t digest, const Event& event) {
  const std::uint64_t head = static_cast<std::uint64_t>(event.kind) |
                             static_cast<std::uint64_t>(event.category) << 8 |
                             static_cast<std::uint64_t>(index(event.buffer)) << 32;
  digest = fold(digest, head);
  digest = fold(digest, event.requested);
  digest = fold(digest, event.granted);
  return fold(digest, event.offset);
}

/// What finished rounds do to a digest, modulo 2^64. Because it is affine, so is doing it n times.
struct RoundFold {
  std::uint64_t factor = 1, term = 0;

  static RoundFold once(std::uint64_t round_digest) {
    // Odd factors lose nothing; the term is mixed, so that like rounds do not have like terms.
    return {0xd1342543de82ef95ull, fold(0x2545f4914f6cdd1dull, round_digest)};
  }
  std::uint64_t operator()(std::uint64_t digest) const { return digest * factor + term; }
  RoundFold then(const RoundFold& next) const {
    return {factor * next.factor, term * next.factor + next.term};
  }
  /// O(log n).
  RoundFold times(std::uint64_t n) const {
    RoundFold result, power = *this;
    for (; n > 0; n /= 2) {
      if (n % 2 == 1) result = result.then(power);
      power = power.then(power);
    }
    return result;
  }
};

std::string show(const Event& event) {
  constexpr std::string_view kinds[] = {"allocate", "free",     "reserve", "release",
                                        "commit",   "decommit", "map",     "unmap"};
  std::string text(kinds[static_cast<std::size_t>(event.kind)]);
  if (event.buffer != kNoBuffer) text += " of buffer " + std::to_string(index(event.buffer));
  return text + ", " + std::to_string(event.requested) + " bytes";
}

Event::Kind kind_of(DriverCall call) {
  switch (call) {
    case DriverCall::reserve: return Event::Kind::reserve;
    case DriverCall::release: return Event::Kind::release;
    case DriverCall::commit: return Event::Kind::commit;
    case DriverCall::decommit: return Event::Kind::decommit;
    case DriverCall::map: return Event::Kind::map;
    case DriverCall::unmap: return Event::Kind::unmap;
  }
  throw ContractError("unknown driver call");
}

}  // namespace

void Ledger::allocated(const Request& request, const Placement& placement, const Usage& usage) {
  const Event event{Event::Kind::allocate, request.category,  request.id,
                    request.bytes,         placement.granted, placement.offset};
  check_expected(event);
  if (index(request.id) >= lives_.size()) lives_.resize(index(request.id) + 1);
  Life& life = lives_[index(request.id)];
  if (life.live()) throw ContractError(show(event) + ", which is live already");
  if (placement.granted < request.bytes) {
    throw ContractError(show(event) + ": expected at least as many granted, got " +
                        std::to_string(placement.granted));
  }
  record(event);
  if (peak_.event > 0 && life.covers(peak_.event)) life.seen_at_peak = peak_.event;
  life.requested = request.bytes;
  life.granted = placement.granted;
  life.offset = placement.offset;
  life.category = request.category;
  life.born = events_;

  totals_.live[static_cast<std::size_t>(request.category)] += request.bytes;
  totals_.requested += request.bytes;
  totals_.granted += placement.granted;
  totals_.peak_granted = std::max(totals_.peak_granted, totals_.granted);
  ++totals_.allocations;
  check_books(event, usage);
  update_peak();
}

void Ledger::freed(BufferId id, const Usage& usage) {
  const bool known = index(id) < lives_.size();
  const Life life = known ? lives_[index(id)] : Life{};
  const Event event{Event::Kind::free, life.category, id,
                    life.requested,    life.granted,  life.offset};
  check_expected(event);
  if (!life.live()) throw ContractError(show(event) + ", which is not live");
  record(event);
  lives_[index(id)].died = events_;

  totals_.live[static_cast<std::size_t>(life.category)] -= life.requested;
  totals_.requested -= life.requested;
  totals_.granted -= life.granted;
  ++totals_.frees;
  check_books(event, usage);
}

void Ledger::driver_called(DriverCall call, std::size_t offset, std::size_t bytes) {
  const Event event{kind_of(call), {}, kNoBuffer, bytes, 0, offset};
  record(event);
  ++totals_.driver_calls;
  if (call == DriverCall::commit) {
    totals_.reserved += bytes;
    totals_.peak_reserved = std::max(totals_.peak_reserved, totals_.reserved);
  } else if (call == DriverCall::decommit) {
    if (bytes > totals_.reserved) throw ContractError(show(event) + ", more than was committed");
    totals_.reserved -= bytes;
    decommitted_ = true;
  }
}

void Ledger::record(const Event& event) {
  ++events_;
  digest_ = fold(digest_, event);
  if (keep_log_) log_.push_back(event);
}

void Ledger::check_expected(const Event& event) {
  if (!expectation_) return;
  const std::optional<Event> expected = expectation_();
  if (expected && expected->kind == event.kind && expected->buffer == event.buffer &&
      expected->requested == event.requested) {
    return;
  }
  throw ContractError("event " + std::to_string(events_ + 1) + " is not the program's: expected " +
                      (expected ? show(*expected) : "none") + "; got " + show(event));
}

void Ledger::check_books(const Event& event, const Usage& usage) {
  const std::size_t categories =
      std::accumulate(totals_.live.begin(), totals_.live.end(), std::size_t{0});
  const std::size_t rounding = totals_.granted - totals_.requested;
  const char* broken = nullptr;
  if (categories != totals_.requested) broken = "categories do not sum to requested";
  if (totals_.granted < totals_.requested) broken = "granted is less than requested";
  if (categories + rounding + usage.free != usage.footprint) {
    broken = "requested + rounding + holes is not the footprint";
  }
  if (usage.reserved != totals_.reserved) broken = "driver calls do not sum to reserved";
  if (usage.footprint > totals_.reserved) broken = "the footprint passes what is reserved";
  if (usage.footprint < footprint_ && !decommitted_) broken = "the footprint fell";
  if (broken != nullptr) {
    throw ContractError(
        "the books do not balance at event " + std::to_string(events_) + " (" + show(event) +
        "): " + broken + "; categories " + std::to_string(categories) + ", requested " +
        std::to_string(totals_.requested) + ", granted " + std::to_string(totals_.granted) +
        ", holes " + std::to_string(usage.free) + ", footprint " + std::to_string(usage.footprint) +
        " after " + std::to_string(footprint_) + ", reserved " + std::to_string(usage.reserved) +
        ", driver calls " + std::to_string(totals_.reserved));
  }
  footprint_ = usage.footprint;
  decommitted_ = false;
  totals_.footprint = std::max(totals_.footprint, usage.footprint);
}

void Ledger::update_peak() {
  if (totals_.requested <= peak_.requested) return;
  peak_ = {events_, position_, totals_.live, totals_.requested};
}

void Ledger::begin_round() {
  rounds_.push_back({digest_, events_, totals_});
  digest_ = kEmptyDigest;
  finished_ = {};
}

void Ledger::end_round() {
  check_contract(!rounds_.empty(), "the end of a round that has not begun");
  const Round& round = rounds_.back();
  const Totals& before = round.before;
  finished_ = {digest_,
               events_ - round.first_event,
               events_,
               totals_.allocations - before.allocations,
               totals_.frees - before.frees,
               totals_.driver_calls - before.driver_calls,
               totals_.live == before.live && totals_.granted == before.granted &&
                   totals_.footprint == before.footprint && totals_.reserved == before.reserved};
  digest_ = RoundFold::once(digest_)(round.outer_digest);
  rounds_.pop_back();
}

void Ledger::repeat_round(std::uint64_t rounds) {
  if (rounds == 0) return;
  check_contract(finished_.last_event == events_, "a round to repeat has not just ended");
  check_contract(finished_.neutral, "a round to repeat does not leave the books as it found them");
  digest_ = RoundFold::once(finished_.digest).times(rounds)(digest_);
  if (keep_log_) {
    const std::vector<Event> round(log_.end() - static_cast<std::ptrdiff_t>(finished_.events),
                                   log_.end());
    for (std::uint64_t i = 0; i < rounds; ++i) log_.insert(log_.end(), round.begin(), round.end());
  }
  events_ += rounds * finished_.events;
  totals_.allocations += rounds * finished_.allocations;
  totals_.frees += rounds * finished_.frees;
  totals_.driver_calls += rounds * finished_.driver_calls;
  finished_.last_event = events_;
}

std::vector<BufferId> Ledger::live_at_peak() const {
  std::vector<BufferId> ids;
  if (peak_.event == 0) return ids;
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    if (lives_[i].covers(peak_.event) || lives_[i].seen_at_peak == peak_.event) {
      ids.push_back(BufferId{static_cast<std::uint32_t>(i)});
    }
  }
  return ids;
}

std::vector<BufferId> Ledger::live_now() const {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    if (lives_[i].live()) ids.push_back(BufferId{static_cast<std::uint32_t>(i)});
  }
  return ids;
}

}  // namespace arenagrad
