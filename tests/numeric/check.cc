#include "tests/numeric/check.h"

#include <fmt/format.h>

#include "kernels/cpu/backend.h"
#include "tests/numeric/run_case.h"

namespace arenagrad::numeric {
namespace {

/// Leaves a smaller last micro-batch wherever there are three samples or more.
std::int64_t uneven(std::int64_t batch) { return batch <= 2 ? 1 : batch / 2 + 1; }

/// Batch norm in train mode refuses to normalise a single value, which a small micro-batch can
/// bring about where the reference's whole batch does not.
bool may_refuse_micro_batches(const ReferenceCase& reference) {
  bool found = false;
  for (const TapeNode& node : reference.net.tape.nodes())
    found = found || node.layer->op() == "batch_norm";
  return found && reference.run == RunMode::train;
}

class Report {
 public:
  explicit Report(std::FILE* to) : to_(to) {}

  void heading() {
    fmt::print(to_, "{:<26} {:<5} {:<18} {:<8}", "case", "dtype", "mode", "policy");
    for (std::string_view kind : kKindNames) fmt::print(to_, " {:>11}", kind);
    fmt::print(to_, "\n");
  }

  /// A row: the worst relative error of each kind.
  void row(const ReferenceCase& reference, DType dtype, const Way& way,
           const Comparison& comparison, std::string_view note) {
    fmt::print(to_, "{:<26} {:<5} {:<18} {:<8}", reference.name, arenagrad::name(dtype),
               arenagrad::name(way.mode), arenagrad::name(way.policy));
    for (std::size_t i = 0; i < kKindCount; ++i) {
      const auto worst = comparison.worst.find(static_cast<Kind>(i));
      fmt::print(
          to_, " {:>11}",
          worst == comparison.worst.end() ? "-" : fmt::format("{:.1e}", worst->second.error));
    }
    std::size_t zeros = 0;
    for (const auto& [kind, count] : comparison.zeros) zeros += count;
    fmt::print(to_, "  {}{}{}\n", comparison.failures.empty() ? "ok" : "FAILED", note,
               zeros > 0 ? fmt::format(", {} zero up to rounding", zeros) : "");
    for (const std::string& failure : comparison.failures) fmt::print(to_, "    {}\n", failure);
    ++rows_;
    if (!comparison.failures.empty()) ++failed_;
  }

  void not_run(const ReferenceCase& reference, DType dtype, const Way& way, const Error& why) {
    fmt::print(to_, "{:<26} {:<5} {:<18} {:<8} not run: {}\n", reference.name,
               arenagrad::name(dtype), arenagrad::name(way.mode), arenagrad::name(way.policy),
               why.what());
  }

  bool finish(std::size_t cases) {
    fmt::print(to_, "{} cases, {} runs, {} failed: {}\n", cases, rows_, failed_,
               failed_ == 0 ? "all within the limits" : "NOT within the limits");
    return failed_ == 0;
  }

 private:
  std::FILE* to_;
  std::size_t rows_ = 0, failed_ = 0;
};

void check_case(const ReferenceCase& reference, DType dtype, Backend& backend, Report& report) {
  const std::int64_t micro = uneven(reference.batch);
  for (SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
    const Way full{.mode = GradientMode::full_batch, .micro_batch = 0, .policy = policy};
    report.row(reference, dtype, full,
               compare(reference.expected(dtype), run_case(reference, dtype, full, backend).results,
                       dtype),
               "");

    std::optional<Results> accumulated;
    for (GradientMode mode : {GradientMode::accumulated_graph, GradientMode::per_step}) {
      const Way cut{.mode = mode, .micro_batch = micro, .policy = policy};
      Outcome outcome;
      try {
        outcome = run_case(reference, dtype, cut, backend);
      } catch (const ContractError&) {
        throw;
      } catch (const Error& error) {
        if (!may_refuse_micro_batches(reference)) throw;
        report.not_run(reference, dtype, cut, error);
        continue;
      }
      if (outcome.coupled.empty()) {
        report.row(reference, dtype, cut,
                   compare(reference.expected(dtype), outcome.results, dtype), "");
      } else if (!accumulated) {
        accumulated = std::move(outcome.results);
      } else {
        report.row(
            reference, dtype, cut, compare(*accumulated, outcome.results, dtype),
            " against accumulated-graph (" + outcome.coupled.front() + " couples the samples)");
      }
    }
  }
}

}  // namespace

bool check_folder(const std::string& folder, std::optional<DType> dtype, std::FILE* to) {
  const std::vector<ReferenceCase> cases = read_cases(folder, dtype);
  CpuBackend backend(2);
  Report report(to);
  report.heading();
  for (const ReferenceCase& reference : cases) {
    for (DType type : {DType::f32, DType::f64}) {
      if (!dtype || *dtype == type) check_case(reference, type, backend, report);
    }
  }
  return report.finish(cases.size());
}

}  // namespace arenagrad::numeric
