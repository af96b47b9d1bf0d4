// How low the planners get, and how long they take:
//   planners_bench [--only NAME,NAME] [--seconds S | --steps N] [--capacity BYTES] [FILE.csv ...]
//
// Problems are traces of any format that can be read; without any, those in bench/data. Percents
// are over the aligned bound. Budgets are the planners' own unless said; with --seconds the clock
// alone stops them; with --capacity they look for a plan that fits it and stop there. Every plan is
// validated. Seconds are CPU time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "allocator/planner.h"
#include "allocator/traces/formats.h"
#include "allocator/traces/lives.h"

namespace {

using namespace arenagrad;

struct Options {
  std::vector<std::string> only;
  std::optional<double> seconds;
  std::optional<std::uint64_t> steps;
  std::size_t capacity = 0;
  std::vector<std::string> paths;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "planners_bench: %s\n", message.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool known =
        flag == "--only" || flag == "--seconds" || flag == "--steps" || flag == "--capacity";
    if (!known) {
      options.paths.push_back(flag);
      continue;
    }
    if (++i == argc) fail(flag + " wants a value");
    if (flag == "--seconds") options.seconds = std::stod(argv[i]);
    if (flag == "--capacity") options.capacity = std::stoull(argv[i]);
    if (flag == "--steps") options.steps = std::stoull(argv[i]);
    if (flag == "--only") {
      std::istringstream names(argv[i]);
      for (std::string name; std::getline(names, name, ',');) {
        options.only.emplace_back(find_planner(name).name);
      }
    }
  }
  if (options.paths.empty()) {
    for (const char* folder : {"minimalloc", "idealloc", "zoo"}) {
      const std::filesystem::path data = ARENAGRAD_SOURCE_DIR "/bench/data";
      for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
        if (entry.path().extension() == ".csv") options.paths.push_back(entry.path().string());
      }
    }
    std::sort(options.paths.begin(), options.paths.end());
  }
  return options;
}

std::vector<Lifetime> load_problem(const std::string& path) {
  try {
    return lifetimes(load_trace(path));
  } catch (const Error& error) {
    fail(error.what());
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double over(std::size_t height, std::size_t bound) {
  return 100.0 * (static_cast<double>(height) / static_cast<double>(bound) - 1);
}

std::string proof(const Solution& solution) {
  std::string text = "optimal";
  if (!solution.optimal) {
    char gap[32];
    std::snprintf(gap, sizeof gap, "gap <= %.3f %%", over(solution.plan.height, solution.bound));
    text = gap;
  }
  return text + (solution.truncated ? ", truncated" : "");
}

struct Sum {
  double over = 0, seconds = 0, slowest = 0;
  int problems = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::printf("%-32s %8s %12s %12s  %-22s %12s %9s %8s %10s  %s\n", "problem", "buffers",
              "lower bound", "aligned", "planner", "height", "over %", "seconds", "steps", "proof");
  std::map<std::string, Sum> sums;
  for (const std::string& path : options.paths) {
    const std::vector<Lifetime> lifetimes = load_problem(path);
    const std::string name = std::filesystem::path(path).stem().string();
    const std::size_t bound = lower_bound(lifetimes, true);
    for (const PlannerInfo& planner : planners()) {
      const std::string planner_name(planner.name);
      const auto& only = options.only;
      if (!only.empty() && std::find(only.begin(), only.end(), planner_name) == only.end()) {
        continue;
      }
      Budget budget = planner.default_budget();
      if (options.steps) budget.steps = *options.steps;
      if (options.seconds) {
        budget = {std::numeric_limits<std::uint64_t>::max(), options.seconds};
      }
      budget.enough = options.capacity;
      const double start = cpu_seconds();
      const Solution solution = planner.solve(lifetimes, budget, {});
      const double seconds = cpu_seconds() - start;
      if (const std::string wrong = validate(lifetimes, solution.plan); !wrong.empty()) {
        fail(name + ", " + planner_name + ": " + wrong);
      }
      const double percent = over(solution.plan.height, bound);
      std::printf("%-32s %8zu %12zu %12zu  %-22s %12zu %9.3f %8.3f %10llu  %s\n", name.c_str(),
                  lifetimes.size(), lower_bound(lifetimes, false), bound, planner_name.c_str(),
                  solution.plan.height, percent, seconds,
                  static_cast<unsigned long long>(solution.steps_used), proof(solution).c_str());
      std::fflush(stdout);
      Sum& sum = sums[planner_name];
      sum.over += percent;
      sum.seconds += seconds;
      sum.slowest = std::max(sum.slowest, seconds);
      ++sum.problems;
    }
  }
  std::printf("\n%-22s %8s %12s %9s %9s\n", "planner", "problems", "mean over %", "seconds",
              "slowest");
  for (const auto& [name, sum] : sums) {
    std::printf("%-22s %8d %12.3f %9.3f %9.3f\n", name.c_str(), sum.problems,
                sum.over / sum.problems, sum.seconds, sum.slowest);
  }
}
