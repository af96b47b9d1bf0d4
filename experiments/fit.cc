#include "experiments/fit.h"

#include <chrono>
#include <limits>
#include <map>

#include "experiments/fit_help.h"
#include "experiments/host_memory.h"
#include "experiments/peak_line.h"
#include "experiments/run.h"
#include "experiments/sweep.h"

namespace arenagrad {
namespace {

/// How many batches below the largest are examined too.
constexpr std::int64_t kBelow = 16;

class Finder {
 public:
  Finder(const Model& model, const FitOptions& options) : model_(model), options_(options) {
    base_ = options.settings;
    base_.capacity = options.capacity();
    if (options.budget)
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*options.budget));
  }

  Fit find() {
    check_mode();
    Fit result;
    result.capacity = options_.capacity();
    // A graph is as long as its batch, and a GPU's engines are asked about anew at each: there one
    // batch more is not cheap.
    const bool dear = base_.plan.mode == GradientMode::accumulated_graph ||
                      base_.profile.kernels != cpu_profile().kernels;
    result.found = find_largest(most(), dear ? 1 : kBelow,
                                {[&](std::int64_t batch) { return may_fit(at(batch)); },
                                 [&](std::int64_t batch) { return footprint(batch).has_value(); },
                                 [&] { return out_of_time(); }});
    const auto largest = result.found.largest;
    result.formulas = batch_formulas(model_, result.capacity, [&](std::int64_t batch) {
      return batch <= result.found.bound && footprint(batch).has_value();
    });
    if (largest == 0) {
      explain_nothing_fits(result);
      return result;
    }
    result.settings = at(largest);
    result.footprint_at_largest = *footprint(largest);
    look_at_next(result);
    const auto wanted = options_.effective.value_or(2 * largest);
    if (!out_of_time())
      result.routes = routes(model_, options_, base_, wanted, [&] { return out_of_time(); });
    if (options_.prove) result.proof = prove(result.found);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Settings at(std::int64_t batch) const { return at_batch(base_, batch, options_.micro_batch); }

  bool out_of_time() const { return Clock::now() > deadline_; }

  /// A mode that is refused for a batch of several micro-batches has no largest batch.
  void check_mode() const {
    const auto micro = std::min<std::int64_t>(options_.micro_batch.value_or(1), 1 << 20);
    try {
      plan(model_.tape, without_engines(base_.profile), at(2 * micro).plan);
    } catch (const ModeRefused&) {
      throw;
    } catch (const ContractError&) {
      throw;
    } catch (const Error&) {
      return;  // said where the search meets it
    }
  }

  /// A graph over too many micro-batches is refused, however much memory there is; and not looked
  /// for further than a few thousand, unless asked with --max.
  std::int64_t most() const {
    if (base_.plan.mode != GradientMode::accumulated_graph) return options_.most;
    constexpr std::int64_t kMostUnasked = 2048;
    const auto forwards = options_.most_was_asked ? kMostRecordedForwards : kMostUnasked;
    const auto micro = options_.micro_batch.value_or(1);
    return std::min(options_.most, micro > std::numeric_limits<std::int64_t>::max() / forwards
                                       ? options_.most
                                       : micro * forwards);
  }

  bool may_fit(const Settings& settings) const {
    tell(settings.plan.batching.batch);
    return bound_fits(model_, settings);
  }

  /// Under the strategy in the capacity; nothing when it does not fit.
  std::optional<std::size_t> footprint(std::int64_t batch) {
    const auto known = footprints_.find(batch);
    if (known != footprints_.end()) return known->second;
    tell(batch);
    return footprints_[batch] = footprint_of(model_, at(batch)).footprint;
  }

  void tell(std::int64_t batch) const {
    if (options_.interrupted && options_.interrupted->load(std::memory_order_relaxed))
      throw Interrupted();
    if (options_.progress) options_.progress(batch);
  }

  void look_at_next(Fit& result) const {
    if (result.found.largest == std::numeric_limits<std::int64_t>::max()) return;
    auto next = at(result.found.largest + 1);
    next.capacity = kUnlimited;
    const auto attempt = footprint_of(model_, next);
    result.footprint_at_next = attempt.footprint;
    result.next_refused = attempt.refused;
  }

  void explain_nothing_fits(Fit& result) const {
    // Batch norm over a single value cannot be planned at 1; then 2 is the smallest batch.
    for (const std::int64_t batch : {1, 2}) {
      result.settings = at(batch);
      try {
        run_dry(model_, result.settings);
        return;  // it fits: only larger ones were ruled out, by the budget
      } catch (const DoesNotFit& error) {
        result.why_not = error.report;
        result.remedies = remedies(model_, options_, result.settings, error.report);
        return;
      } catch (const Error&) {
        if (batch == 2) throw;
      }
    }
  }

  Proof prove(const Largest& found) const {
    Proof proof;
    try {
      const auto run = run_real(model_, at(found.largest), {.interrupted = options_.interrupted});
      proof.ran = true;
      proof.same_ledger = run.measurement.planned_equals_observed.value_or(false);
      proof.message = "one more was not tried";
      if (!found.next_is_refused()) return proof;
      run_real(model_, at(found.largest + 1), {.interrupted = options_.interrupted});
      proof.message = "one more fits as well";
    } catch (const NotEnoughMemory& error) {
      proof.message = error.what();
    } catch (const DoesNotFit& error) {
      proof.next_refused = proof.ran;
      proof.message = error.what();
    } catch (const ContractError&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      proof.message = error.what();
    }
    return proof;
  }

  const Model& model_;
  const FitOptions& options_;
  Settings base_;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::map<std::int64_t, std::optional<std::size_t>> footprints_;
};

}  // namespace

Fit fit(const Model& model, const FitOptions& options) { return Finder(model, options).find(); }

}  // namespace arenagrad
