#include "tests/allocator/traces.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace arenagrad::testing {
namespace {

BufferId id_of(std::size_t i) { return BufferId{static_cast<std::uint32_t>(i)}; }

/// Builds a trace op by op.
class Builder {
 public:
  Builder(std::string name, std::size_t alignment) : trace_{std::move(name), alignment, {}, {}} {}

  BufferId allocate(std::size_t bytes) {
    const BufferId id = id_of(trace_.sizes.size());
    trace_.sizes.push_back(bytes);
    trace_.ops.push_back({true, id});
    return id;
  }
  void free(BufferId id) { trace_.ops.push_back({false, id}); }
  Trace done() { return std::move(trace_); }

 private:
  Trace trace_;
};

Trace stack_trace() {
  Builder b("stack", 64);
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < 60; ++i) ids.push_back(b.allocate(1 + 37 * i));
  for (; !ids.empty(); ids.pop_back()) b.free(ids.back());
  return b.done();
}

Trace queue_trace() {
  Builder b("queue", 32);
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < 120; ++i) {
    ids.push_back(b.allocate(100 + i * 7919 % 1000));
    if (i >= 5) b.free(ids[i - 5]);
  }
  for (std::size_t i = 115; i < 120; ++i) b.free(ids[i]);
  return b.done();
}

/// Every other buffer dies, and what follows is one byte too large for the holes.
Trace comb_trace() {
  Builder b("comb", 1);
  std::vector<BufferId> teeth;
  for (std::size_t i = 0; i < 64; ++i) teeth.push_back(b.allocate(1000));
  for (std::size_t i = 0; i < 64; i += 2) b.free(teeth[i]);
  std::vector<BufferId> wide;
  for (std::size_t i = 0; i < 20; ++i) wide.push_back(b.allocate(1001));
  for (std::size_t i = 1; i < 64; i += 2) b.free(teeth[i]);
  for (const BufferId id : wide) b.free(id);
  return b.done();
}

/// Each next buffer is larger than the hole its predecessors leave.
Trace staircase_trace() {
  Builder b("staircase", 16);
  BufferId last = b.allocate(16);
  for (std::size_t i = 2; i < 80; ++i) {
    const BufferId next = b.allocate(i * 48);
    b.free(last);
    last = next;
  }
  b.free(last);
  return b.done();
}

/// Sizes up to 2^40: nothing may be kept in 32 bits.
Trace huge_trace() {
  Builder b("huge", 4096);
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < 40; ++i) {
    ids.push_back(b.allocate((std::size_t{1} << (20 + i % 21)) + i % 3));
    if (i % 4 == 3) b.free(ids[i - 2]);
  }
  for (std::size_t i = 0; i < 40; ++i) {
    if (i % 4 != 1) b.free(ids[i]);
  }
  return b.done();
}

/// Sizes round every power of two, so that rounding and splitting meet their edges.
Trace edges_trace() {
  Builder b("edges", 256);
  std::vector<BufferId> ids;
  for (std::size_t power = 1; power <= std::size_t{1} << 14; power *= 2) {
    for (const std::size_t bytes : {power - 1, power, power + 1}) {
      if (bytes > 0) ids.push_back(b.allocate(bytes));
    }
  }
  for (std::size_t i = 0; i < ids.size(); i += 3) b.free(ids[i]);
  for (std::size_t i = 1; i < ids.size(); i += 3) b.free(ids[i]);
  const BufferId last = b.allocate(256 * 7);
  for (std::size_t i = 2; i < ids.size(); i += 3) b.free(ids[i]);
  b.free(last);
  return b.done();
}

/// Buffers of several pages each, in holes that are no neighbours.
Trace pages_trace() {
  constexpr std::size_t mib = std::size_t{1} << 20;
  Builder b("pages", 512);
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < 8; ++i) ids.push_back(b.allocate(2 * mib + i % 3 * mib));
  for (std::size_t i = 0; i < 8; i += 2) b.free(ids[i]);
  const BufferId wide = b.allocate(9 * mib);
  const BufferId small = b.allocate(700);
  for (std::size_t i = 1; i < 6; i += 2) b.free(ids[i]);
  const BufferId wider = b.allocate(11 * mib + 5);
  b.free(wide);
  const BufferId again = b.allocate(9 * mib);
  for (const BufferId id : {again, small, wider, ids[7]}) b.free(id);
  return b.done();
}

}  // namespace

Request Trace::request(BufferId id) const {
  return {id, sizes[index(id)], alignment, static_cast<Category>(index(id) % kCategoryCount)};
}

std::vector<Lifetime> Trace::lifetimes() const {
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    lifetimes.push_back({id_of(i), sizes[i], alignment, 0, 0});
  }
  for (std::size_t t = 0; t < ops.size(); ++t) {
    Lifetime& l = lifetimes[index(ops[t].id)];
    (ops[t].allocate ? l.begin : l.end) = static_cast<std::uint32_t>(t);
  }
  return lifetimes;
}

Trace random_trace(std::uint32_t seed, std::size_t buffers, std::size_t largest,
                   std::size_t alignment, std::size_t classes) {
  // The engine's numbers are the same everywhere; the standard's distributions are not.
  std::mt19937 random(seed);
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < classes; ++i) sizes.push_back(1 + random() % largest);
  Builder b("random" + std::to_string(seed), alignment);
  std::vector<BufferId> live;
  std::size_t made = 0;
  while (made < buffers || !live.empty()) {
    // Phases of growth and of decline.
    const bool growing = made / 50 % 3 != 2;
    const bool allocate = made < buffers && (live.empty() || random() % 10 < (growing ? 7u : 3u));
    if (allocate) {
      live.push_back(b.allocate(classes > 0 && random() % 4 != 0 ? sizes[random() % classes]
                                                                 : 1 + random() % largest));
      ++made;
    } else {
      const std::size_t victim = random() % live.size();
      b.free(live[victim]);
      live[victim] = live.back();
      live.pop_back();
    }
  }
  return b.done();
}

std::vector<Trace> adversarial_traces() {
  return {stack_trace(), queue_trace(), comb_trace(), staircase_trace(),
          huge_trace(),  edges_trace(), pages_trace()};
}

std::vector<Trace> all_traces() {
  std::vector<Trace> traces = adversarial_traces();
  traces.push_back(random_trace(1, 300, 5000, 1, 0));
  traces.push_back(random_trace(2, 300, 5000, 64, 6));
  traces.push_back(random_trace(3, 400, std::size_t{1} << 30, 512, 8));
  traces.push_back(random_trace(4, 200, 40, 8, 3));
  return traces;
}

std::vector<Lifetime> load_problem(const std::string& path) {
  std::ifstream file(std::string(ARENAGRAD_SOURCE_DIR) + "/tests/data/" + path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  std::getline(file, line);
  if (line != "id,lower,upper,size") throw std::runtime_error("unknown header: " + line);
  std::vector<Lifetime> lifetimes;
  while (std::getline(file, line)) {
    std::istringstream fields(line.substr(line.find(',') + 1));
    char comma = 0;
    Lifetime l{id_of(lifetimes.size()), 0, 1, 0, 0};
    fields >> l.begin >> comma >> l.end >> comma >> l.bytes;
    if (!fields) throw std::runtime_error("not a buffer: " + line);
    lifetimes.push_back(l);
  }
  return lifetimes;
}

Trace trace_of(const std::string& name, const std::vector<Lifetime>& lifetimes) {
  std::vector<std::tuple<std::uint32_t, bool, std::size_t>> events;
  Trace trace{name, 1, {}, {}};
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    events.emplace_back(lifetimes[i].begin, true, i);
    events.emplace_back(lifetimes[i].end, false, i);
    trace.sizes.push_back(lifetimes[i].bytes);
    trace.alignment = std::max(trace.alignment, lifetimes[i].alignment);
  }
  std::sort(events.begin(), events.end());
  for (const auto& [time, allocate, i] : events) trace.ops.push_back({allocate, id_of(i)});
  return trace;
}

}  // namespace arenagrad::testing
