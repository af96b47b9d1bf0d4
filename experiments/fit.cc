#include "experiments/fit.h"

#include <algorithm>
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
    check_at_two();
    Fit result;
    result.capacity = options_.capacity();
    // A graph is as long as its batch, and a GPU's engines may be asked about anew at each: there
    // one batch more is not cheap.
    const bool dear = base_.plan.mode == GradientMode::accumulated_graph || options_.asks_engines;
    result.found = search(dear ? 1 : kBelow);
    const auto largest = result.found.largest;
    result.stopped_by_graph = most() < options_.most;
    result.formulas = batch_formulas(model_, result.capacity,
                                     [&](std::int64_t batch) { return fits(batch, result.found); });
    if (largest == 0) {
      explain_nothing_fits(result);
      if (options_.frontier) look_at_frontier(result);
      return result;
    }
    result.settings = at(largest);
    result.footprint_at_largest = *footprint(largest);
    look_at_next(result);
    const auto wanted = options_.effective.value_or(2 * largest);
    if (!out_of_time())
      result.routes = routes(model_, options_, base_, wanted, [&] { return out_of_time(); });
    if (options_.frontier) look_at_frontier(result);
    if (options_.prove) result.proof = prove(result.found);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Settings at(std::int64_t batch) const { return at_batch(base_, batch, options_.micro_batch); }

  Largest search(std::int64_t below) {
    return find_largest(most(), below,
                        {[&](std::int64_t batch) { return may_fit(at(batch)); },
                         [&](std::int64_t batch) { return footprint(batch).has_value(); },
                         [&] { return out_of_time(); }});
  }

  bool out_of_time() const { return Clock::now() > deadline_; }

  /// What is refused for two micro-batches, for another reason than their size, is refused for any
  /// number of them: a mode, a layer that is not there, statistics of a single value.
  void check_at_two() const {
    const auto micro = std::min<std::int64_t>(options_.micro_batch.value_or(1), 1 << 20);
    try {
      plan_without_engines(model_, at(2 * micro));
    } catch (const ShapeError&) {
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

  /// Of a batch that somebody else names. A graph that is too long to be looked at stays open.
  std::optional<bool> fits(std::int64_t batch, const Largest& found) {
    if (batch > found.bound) {
      if (!found.stopped_by_most) return false;
      if (base_.plan.mode == GradientMode::accumulated_graph) return std::nullopt;
      if (!may_fit(at(batch))) return false;
    }
    return footprint(batch).has_value();
  }

  /// Under per-step all micro-steps but the first and the last are alike, and what reuses memory
  /// does the same in each before long: a batch of many stands for those of more.
  std::int64_t stands_for(std::int64_t batch) const {
    constexpr std::int64_t kMany = 1024;
    if (base_.plan.mode != GradientMode::per_step || !find_strategy(base_.strategy).reuses)
      return batch;
    const auto micro = options_.micro_batch.value_or(1);
    return batch / micro <= kMany ? batch : kMany * micro + batch % micro;
  }

  /// Under the strategy in the capacity; nothing when it does not fit.
  std::optional<std::size_t> footprint(std::int64_t wanted) {
    const auto batch = stands_for(wanted);
    const auto known = footprints_.find(batch);
    if (known != footprints_.end()) return known->second;
    tell(wanted);
    return footprints_[batch] = footprint_of(model_, at(batch)).footprint;
  }

  /// A search of its own for each way to recompute. What was known of batches is forgotten.
  void look_at_frontier(Fit& result) {
    const auto own = base_.plan.recompute;
    for (const auto& way : ways_to_recompute(model_.tape, own)) {
      auto& one = result.frontier.emplace_back();
      one.recompute = way;
      if (out_of_time()) {
        one.error = "not looked at: time ran out";
        continue;
      }
      base_.plan.recompute = way;
      footprints_.clear();
      one.found = search(0);
      if (one.found.largest == 0) continue;
      one.footprint = *footprint(one.found.largest);
      const auto program = plan(model_.tape, base_.profile, at(one.found.largest).plan);
      one.cost = step_cost(program.step, program, model_.tape);
    }
    base_.plan.recompute = own;
    order_and_mark(result.frontier);
  }

  static void order_and_mark(std::vector<FitOnFrontier>& ways) {
    // Ways that were not looked at, or with which nothing fits, come last. One that was stopped
    // reaches further than was looked: it cannot be compared.
    const auto time = [](const FitOnFrontier& way) {
      return way.found.largest == 0 ? std::numeric_limits<double>::infinity() : way.cost.times();
    };
    std::stable_sort(ways.begin(), ways.end(),
                     [&](const auto& a, const auto& b) { return time(a) < time(b); });
    std::vector<std::optional<Tradeoff>> choices;
    for (const auto& way : ways)
      choices.push_back(way.found.largest == 0 || way.stopped()
                            ? std::nullopt
                            : std::optional(Tradeoff{-way.found.largest, time(way)}));
    const auto optimal = on_frontier(choices);
    for (std::size_t i = 0; i < ways.size(); ++i) ways[i].optimal = optimal[i];
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
    const RunOptions how{.device = options_.device, .interrupted = options_.interrupted};
    try {
      const auto run = run_real(model_, at(found.largest), how);
      proof.ran = true;
      proof.backend = run.measurement.backend;
      proof.same_ledger = run.measurement.planned_equals_observed.value_or(false);
      proof.message = "one more was not tried";
      if (!found.next_is_refused()) return proof;
      run_real(model_, at(found.largest + 1), how);
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
