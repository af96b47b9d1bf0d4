// What every strategy promises, whatever its rule: run over all of the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "allocator/arena.h"
#include "allocator/smallest_capacity.h"
#include "tests/allocator/traces.h"

namespace arenagrad::testing {
namespace {

struct Outcome {
  std::vector<Event> log;
  Totals totals;
  std::uint64_t digest;
  std::optional<std::uint64_t> fingerprint;
};

class StrategyContract : public ::testing::TestWithParam<std::string> {
 protected:
  const StrategyInfo& info() const { return find_strategy(GetParam()); }
  const Trace& trace() const { return trace_; }

  /// Others pass over some, by size class or because it would have to be split.
  bool finds_every_hole() const { return info().name != "tlsf" && info().name != "buddy"; }

  /// Runs `body` on each trace in turn.
  template <class Body>
  void for_each_trace(Body body) {
    for (const Trace& trace : all_traces()) {
      SCOPED_TRACE(trace.name);
      trace_ = trace;
      body();
    }
  }

  /// Replays `ops` and hands each event to `check`.
  template <class Check>
  Outcome replay(Driver& driver, Check check) const {
    const std::vector<Lifetime> lifetimes = trace().lifetimes();
    Ledger ledger(true);
    Arena arena(driver, ledger, info(), trace().alignment, lifetimes);
    for (const Op& op : trace().ops) {
      Placement placement{};
      if (op.allocate) {
        placement = arena.allocate(trace().request(op.id));
      } else {
        arena.free(op.id);
      }
      check(arena, op, placement);
    }
    return {ledger.log(), ledger.totals(), ledger.digest(), arena.strategy().fingerprint()};
  }

  Outcome replay(Driver& driver) const {
    return replay(driver, [](Arena&, const Op&, const Placement&) {});
  }

  bool runs(std::size_t capacity, std::size_t granule) const {
    try {
      SimulatedDriver driver(capacity, granule);
      const Outcome outcome = replay(driver);
      EXPECT_LE(outcome.totals.peak_reserved, capacity);
      EXPECT_GE(outcome.totals.footprint, lower_bound(trace().lifetimes(), true));
      return true;
    } catch (const OutOfMemory&) {
      return false;
    }
  }

  std::size_t smallest_device(std::size_t granule) const {
    SimulatedDriver roomy(kUnlimited, granule);
    return smallest_capacity(replay(roomy).totals.peak_reserved, granule,
                             [&](std::size_t capacity) { return runs(capacity, granule); });
  }

 private:
  Trace trace_;
};

TEST_P(StrategyContract, PlacesAlignedAndApart) {
  for_each_trace([&] {
    SimulatedDriver driver(kUnlimited, 4096);
    // The validator knows nothing of strategies: it gets what was granted as a plan, once as
    // offsets and once as the memory behind them, which may be in several pieces.
    std::vector<Lifetime> granted = trace().lifetimes();
    std::vector<Lifetime> pieces;
    Plan plan{std::vector<std::size_t>(granted.size()), 0};
    Plan memory;
    const Outcome outcome = replay(driver, [&](Arena&, const Op& op, const Placement& placement) {
      if (!op.allocate) return;
      const Request request = trace().request(op.id);
      EXPECT_EQ(placement.offset % request.alignment, 0u);
      EXPECT_GE(placement.granted, request.bytes);
      granted[index(op.id)].bytes = placement.granted;
      plan.offsets[index(op.id)] = placement.offset;
      plan.height = std::max(plan.height, placement.offset + placement.granted);
      for (const auto& [offset, bytes] :
           driver.memory_behind(placement.offset, placement.granted)) {
        pieces.push_back(granted[index(op.id)]);
        pieces.back().bytes = bytes;
        memory.offsets.push_back(offset);
        memory.height = std::max(memory.height, offset + bytes);
      }
    });
    EXPECT_EQ(validate(granted, plan), "");
    EXPECT_EQ(validate(pieces, memory), "");
    if (!info().adaptive) {
      EXPECT_LE(memory.height, outcome.totals.footprint);
    }
    EXPECT_GE(outcome.totals.footprint, lower_bound(trace().lifetimes(), true));
    EXPECT_GE(lower_bound(trace().lifetimes(), true), lower_bound(trace().lifetimes(), false));
  });
}

TEST_P(StrategyContract, BooksBalanceAtEachEvent) {
  for_each_trace([&] {
    SimulatedDriver driver(kUnlimited, 4096);
    std::map<std::size_t, Placement> live;  // kept apart from the ledger
    replay(driver, [&](Arena& arena, const Op& op, const Placement& placement) {
      if (op.allocate) {
        live[index(op.id)] = placement;
      } else {
        live.erase(index(op.id));
      }
      std::size_t granted = 0, requested = 0;
      for (const auto& [id, p] : live) {
        granted += p.granted;
        requested += trace().sizes[id];
      }
      const Usage usage = arena.strategy().usage();
      ASSERT_EQ(granted + usage.free, usage.footprint);
      ASSERT_LE(usage.footprint, usage.reserved);
      ASSERT_EQ(usage.reserved, driver.reserved());
      ASSERT_LE(arena.strategy().largest_hole(), usage.free);
      ASSERT_EQ(arena.ledger().totals().requested, requested);
      ASSERT_EQ(arena.ledger().totals().granted, granted);
      ASSERT_EQ(arena.ledger().live_now().size(), live.size());
    });
  });
}

TEST_P(StrategyContract, IsAPureFunctionOfTheRequests) {
  for_each_trace([&] {
    SimulatedDriver a(kUnlimited, 4096), b(kUnlimited, 4096);
    const Outcome first = replay(a), second = replay(b);
    EXPECT_EQ(first.log, second.log);
    EXPECT_EQ(first.digest, second.digest);
    EXPECT_EQ(first.totals, second.totals);
    EXPECT_EQ(first.fingerprint, second.fingerprint);
  });
}

TEST_P(StrategyContract, EndsEmpty) {
  for_each_trace([&] {
    SimulatedDriver driver(kUnlimited, 4096);
    const Outcome outcome = replay(driver);
    EXPECT_EQ(outcome.totals.requested, 0u);
    EXPECT_EQ(outcome.totals.granted, 0u);
    EXPECT_EQ(outcome.totals.allocations, trace().sizes.size());
    EXPECT_EQ(outcome.totals.frees, trace().sizes.size());
  });
}

TEST_P(StrategyContract, RunsAtItsFootprintAndNotAByteBelow) {
  if (info().adaptive) return;  // the next test is for those
  for_each_trace([&] {
    for (const std::size_t granule : {std::size_t{1}, std::size_t{4096}, std::size_t{2} << 20}) {
      SimulatedDriver roomy(kUnlimited, granule);
      const Outcome free_run = replay(roomy);
      const std::size_t footprint = free_run.totals.footprint;

      SimulatedDriver exact(footprint, granule);
      const Outcome tight_run = replay(exact);
      EXPECT_EQ(tight_run.totals.footprint, footprint);
      EXPECT_EQ(tight_run.totals.peak_granted, free_run.totals.peak_granted);
      EXPECT_LE(tight_run.totals.peak_reserved, footprint);

      SimulatedDriver short_by_one(footprint - 1, granule);
      EXPECT_THROW(replay(short_by_one), OutOfMemory) << "granule " << granule;
    }
  });
}

TEST_P(StrategyContract, RunsOnItsSmallestDeviceAndNotAGranuleBelow) {
  if (!info().adaptive) return;
  for_each_trace([&] {
    for (const std::size_t granule : {std::size_t{1}, std::size_t{4096}, std::size_t{2} << 20}) {
      SimulatedDriver roomy(kUnlimited, granule);
      const std::size_t enough = replay(roomy).totals.peak_reserved;
      const std::size_t smallest = smallest_device(granule);
      EXPECT_GE(smallest, lower_bound(trace().lifetimes(), true));
      EXPECT_LE(smallest, enough);
      EXPECT_TRUE(runs(smallest, granule));
      EXPECT_FALSE(smallest > granule && runs(smallest - granule, granule))
          << "granule " << granule;
    }
  });
}

TEST_P(StrategyContract, ARefusalLeavesTheStateIntact) {
  for_each_trace([&] {
    SimulatedDriver roomy(kUnlimited, 1);
    const std::size_t smallest =
        info().adaptive ? smallest_device(1) : replay(roomy).totals.footprint;
    SimulatedDriver driver(smallest - 1, 1);
    const std::vector<Lifetime> lifetimes = trace().lifetimes();
    Ledger ledger(true);
    Arena arena(driver, ledger, info(), trace().alignment, lifetimes);
    bool refused = false;
    for (const Op& op : trace().ops) {
      if (!op.allocate) {
        arena.free(op.id);
        continue;
      }
      const Usage before = arena.strategy().usage();
      const auto fingerprint = arena.strategy().fingerprint();
      const std::uint64_t digest = ledger.digest();
      try {
        arena.allocate(trace().request(op.id));
      } catch (const OutOfMemory& error) {
        refused = true;
        EXPECT_EQ(error.request.id, op.id);
        EXPECT_GE(error.granted, error.request.bytes);
        EXPECT_EQ(error.capacity, smallest - 1);
        EXPECT_GT(error.needed, error.capacity);
        EXPECT_EQ(error.live, ledger.totals().live);
        const Usage after = arena.strategy().usage();
        EXPECT_EQ(error.usage.footprint, after.footprint);
        EXPECT_EQ(error.usage.free, after.free);
        EXPECT_EQ(before.footprint - before.free, after.footprint - after.free);
        EXPECT_LE(error.largest_hole, after.free);
        if (finds_every_hole()) {
          EXPECT_LT(error.largest_hole, error.granted);
        }
        if (!info().adaptive) {
          EXPECT_EQ(after.footprint, before.footprint);
          EXPECT_EQ(arena.strategy().fingerprint(), fingerprint);
          EXPECT_EQ(ledger.digest(), digest);
        }
        EXPECT_THROW(arena.allocate(trace().request(op.id)), OutOfMemory) << "and again";
        break;
      }
    }
    EXPECT_TRUE(refused);
    for (const BufferId id : ledger.live_now()) arena.free(id);
    EXPECT_EQ(ledger.totals().granted, 0u);
  });
}

TEST_P(StrategyContract, MisuseIsAContractError) {
  for_each_trace([&] {
    SimulatedDriver driver(kUnlimited, 4096);
    const std::vector<Lifetime> lifetimes = trace().lifetimes();
    Ledger ledger;
    Arena arena(driver, ledger, info(), trace().alignment, lifetimes);
    const Request request = trace().request(BufferId{0});
    EXPECT_THROW(arena.free(request.id), ContractError) << "never allocated";
    arena.allocate(request);
    EXPECT_THROW(arena.allocate(request), ContractError) << "live already";
    arena.free(request.id);
    EXPECT_THROW(arena.free(request.id), ContractError) << "freed twice";
    Request empty = request;
    empty.bytes = 0;
    EXPECT_THROW(arena.allocate(empty), ContractError);
    Request strict = request;
    strict.alignment = 2 * trace().alignment;
    EXPECT_THROW(arena.allocate(strict), ContractError);
    EXPECT_EQ(ledger.totals().allocations, 1u);
  });
}

// Each buffer is filled with its own pattern when it is born and read back when it dies.
TEST_P(StrategyContract, HostMemoryHoldsWhatWasWritten) {
  for_each_trace([&] {
    SimulatedDriver measure(kUnlimited, 1);
    if (replay(measure).totals.footprint > std::size_t{64} << 20) return;  // for simulation alone
    HostDriver driver(kUnlimited, std::size_t{2} << 20);
    const auto pattern = [](BufferId id) { return static_cast<int>(index(id) % 251 + 1); };
    const std::vector<Lifetime> lifetimes = trace().lifetimes();
    Ledger ledger;
    Arena arena(driver, ledger, info(), trace().alignment, lifetimes);
    std::map<std::size_t, std::size_t> offsets;
    for (const Op& op : trace().ops) {
      const std::size_t bytes = trace().sizes[index(op.id)];
      if (op.allocate) {
        offsets[index(op.id)] = arena.allocate(trace().request(op.id)).offset;
        std::memset(arena.base() + offsets[index(op.id)], pattern(op.id), bytes);
      } else {
        const std::byte* at = arena.base() + offsets[index(op.id)];
        const auto intact = std::count(at, at + bytes, static_cast<std::byte>(pattern(op.id)));
        ASSERT_EQ(static_cast<std::size_t>(intact), bytes) << "buffer " << index(op.id);
        arena.free(op.id);
      }
    }
  });
}

// The trace as one round of a repeated section.
TEST_P(StrategyContract, EqualFingerprintsMeanEqualRounds) {
  for_each_trace([&] {
    SimulatedDriver driver(kUnlimited, 4096);
    const std::vector<Lifetime> lifetimes = trace().lifetimes();
    Ledger ledger(true);
    Arena arena(driver, ledger, info(), trace().alignment, lifetimes);
    const auto round = [&] {
      const std::size_t first = ledger.log().size();
      for (const Op& op : trace().ops) {
        if (op.allocate) {
          arena.allocate(trace().request(op.id));
        } else {
          arena.free(op.id);
        }
      }
      return std::vector<Event>(ledger.log().begin() + static_cast<std::ptrdiff_t>(first),
                                ledger.log().end());
    };
    // What is kept from one round may lead another way in the next, but not for ever.
    round();
    auto before = arena.strategy().fingerprint();
    bool settled = false;
    for (int i = 0; i < 20 && !settled; ++i) {
      const std::vector<Event> one = round();
      const auto after = arena.strategy().fingerprint();
      settled = before.has_value() && before == after;
      if (settled) {
        EXPECT_EQ(one, round());
      }
      before = after;
    }
    EXPECT_EQ(settled, info().name != "bump") << "the top moves";
  });
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) names.emplace_back(info.name);
  return names;
}

std::string case_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (c == '-' || c == ':') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, StrategyContract, ::testing::ValuesIn(names()), case_name);

}  // namespace
}  // namespace arenagrad::testing
