// What placing and releasing cost on the host: strategy_bench [TRACE.csv ...]
//
// Each strategy replays each trace over and over with nothing behind its offsets, and
// general-purpose allocators get the same sequence of requests, once more with all sizes / 1024;
// memory isn't touched. The first replay warms up and isn't counted, so caches are full and drivers
// silent. A line gives nanoseconds: the mean of both operations in the fastest replay, then median
// and 99th percentile of each, less what looking at the clock takes. Traces are of any
// format that can be read; without any, those in bench/data.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocator/strategy.h"
#include "allocator/traces/formats.h"

namespace {

using namespace arenagrad;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kAlignment = 512;
constexpr double kSeconds = 0.5;  // per strategy and trace

struct Operation {
  bool allocate;
  std::uint32_t buffer;
};

struct Trace {
  std::string name;
  std::vector<std::size_t> sizes;  // by buffer
  std::vector<Operation> operations;
};

Trace load(const std::string& path) {
  Trace trace{path.substr(path.rfind('/') + 1), {}, {}};
  std::unordered_map<std::uint64_t, std::uint32_t> live;
  try {
    const TraceLog log = load_trace(path);
    for (const TraceEvent& event : log.events()) {
      if (event.kind == TraceEvent::Kind::allocate) {
        live[event.id] = static_cast<std::uint32_t>(trace.sizes.size());
        trace.sizes.push_back(event.bytes);
      } else if (event.kind != TraceEvent::Kind::free) {
        continue;
      }
      trace.operations.push_back({event.kind == TraceEvent::Kind::allocate, live[event.id]});
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "strategy_bench: %s\n", error.what());
    std::exit(2);
  }
  if (trace.operations.size() != 2 * trace.sizes.size()) {
    std::fprintf(stderr,
                 "strategy_bench: %s: expected every buffer to be freed, as it is replayed\n",
                 path.c_str());
    std::exit(2);
  }
  return trace;
}

double nanoseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

double clock_cost() {
  std::vector<double> costs;
  for (int i = 0; i < 10000; ++i) {
    const Clock::time_point start = Clock::now();
    costs.push_back(nanoseconds(Clock::now() - start));
  }
  std::nth_element(costs.begin(), costs.begin() + 5000, costs.end());
  return costs[5000];
}

double percentile(std::vector<double>& values, double part) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// `Allocator` has allocate(buffer, bytes) and free(buffer).
template <class Allocator>
void measure(const char* name, const Trace& trace, Allocator& allocator) {
  const auto perform = [&](const Operation& op) {
    if (op.allocate) {
      allocator.allocate(op.buffer, trace.sizes[op.buffer]);
    } else {
      allocator.free(op.buffer);
    }
  };
  const auto replay = [&] {
    for (const Operation& op : trace.operations) perform(op);
  };
  replay();
  double best = 1e300;
  const Clock::time_point begin = Clock::now();
  while (nanoseconds(Clock::now() - begin) < kSeconds * 1e9) {
    const Clock::time_point start = Clock::now();
    replay();
    best = std::min(best, nanoseconds(Clock::now() - start));
  }
  std::vector<double> times[2];
  const double cost = clock_cost();
  for (int i = 0; i < 5; ++i) {
    for (const Operation& op : trace.operations) {
      const Clock::time_point start = Clock::now();
      perform(op);
      times[op.allocate].push_back(std::max(0.0, nanoseconds(Clock::now() - start) - cost));
    }
  }
  std::printf("%-18s %8.1f %10.0f %8.0f %10.0f %8.0f\n", name,
              best / static_cast<double>(trace.operations.size()), percentile(times[1], 0.5),
              percentile(times[1], 0.99), percentile(times[0], 0.5), percentile(times[0], 0.99));
  std::fflush(stdout);
}

struct Strategy {
  explicit Strategy(const StrategyInfo& info)
      : driver(kUnlimited, std::size_t{2} << 20), strategy(info.make({driver, kAlignment, {}})) {}
  void allocate(std::uint32_t buffer, std::size_t bytes) {
    strategy->place({BufferId{buffer}, bytes, kAlignment, Category::activation});
  }
  void free(std::uint32_t buffer) { strategy->release(BufferId{buffer}); }

  SimulatedDriver driver;
  std::unique_ptr<AllocationStrategy> strategy;
};

/// A pair of malloc and free. Loaded at run time, as linking it would replace everybody's.
struct GeneralPurpose {
  void* (*malloc)(std::size_t) = nullptr;
  void (*release)(void*) = nullptr;
  std::vector<void*> blocks;

  void load(const char* library, const char* malloc_name, const char* free_name) {
    void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(stderr, "strategy_bench: %s\n", ::dlerror());
      std::exit(2);
    }
    malloc = reinterpret_cast<decltype(malloc)>(::dlsym(handle, malloc_name));
    release = reinterpret_cast<decltype(release)>(::dlsym(handle, free_name));
  }
  void allocate(std::uint32_t buffer, std::size_t bytes) {
    if (buffer >= blocks.size()) blocks.resize(buffer + 1);
    blocks[buffer] = malloc(bytes);
    if (blocks[buffer] == nullptr) std::abort();
  }
  void free(std::uint32_t buffer) { release(blocks[buffer]); }
};

/// As it is and, because these allocators ask the system for each large block, with small sizes.
void measure_both(const std::string& name, const Trace& trace, GeneralPurpose& allocator) {
  measure(name.c_str(), trace, allocator);
  Trace small = trace;
  for (std::size_t& bytes : small.sizes) bytes = bytes / 1024 + 1;
  measure((name + " / 1024").c_str(), small, allocator);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty()) {
    const std::string data = ARENAGRAD_SOURCE_DIR "/bench/data/idealloc/";
    paths = {data + "resnet50.csv", data + "pangu_2.6B.csv"};
  }
  for (const std::string& path : paths) {
    const Trace trace = load(path);
    std::printf("%s, %zu buffers, alignment %zu\n", trace.name.c_str(), trace.sizes.size(),
                kAlignment);
    std::printf("%-18s %8s %10s %8s %10s %8s\n", "ns", "mean", "allocate", "p99", "free", "p99");
    for (const StrategyInfo& info : strategies()) {
      if (info.offline || info.name == "bump") continue;
      Strategy strategy(info);
      measure(info.name.data(), trace, strategy);
    }
    GeneralPurpose c;
    c.malloc = std::malloc;
    c.release = std::free;
    measure_both("C library", trace, c);
#ifdef ARENAGRAD_BENCH_MIMALLOC
    GeneralPurpose m;
    m.load(ARENAGRAD_BENCH_MIMALLOC, "mi_malloc", "mi_free");
    measure_both("mimalloc", trace, m);
#endif
    std::printf("\n");
  }
}
