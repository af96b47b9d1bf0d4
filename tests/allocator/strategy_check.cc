// strategy_check [SECONDS [FIRST-SEED]]: strategies against their models until the time is up or
// one differs. Prints what to reproduce it with.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/allocator/model_check.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const auto first = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  if (argc > 3 || seconds <= 0) {
    std::fprintf(stderr, "usage: strategy_check [SECONDS [FIRST-SEED]]\n");
    return 2;
  }
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  const auto names = arenagrad::testing::modelled_strategies();
  std::uint32_t seed = first;
  for (; Clock::now() < end; ++seed) {
    for (const std::string_view name : names) {
      std::string problem;
      try {
        problem = arenagrad::testing::check_against_model(name, seed);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      if (problem.empty()) continue;
      std::fprintf(stderr, "%s, seed %u: %s\n", std::string(name).c_str(), seed, problem.c_str());
      return 1;
    }
  }
  std::printf("%zu strategies agree with their models on %u sequences each, seeds %u to %u\n",
              names.size(), seed - first, first, seed - 1);
  return 0;
}
