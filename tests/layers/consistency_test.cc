// What must not change a layer's results: threads, what memory held before, running in place, the
// saved policy, whether the pass saves; and single precision, within its rounding.
#include <gtest/gtest.h>

#include "tests/layers/backend_under_test.h"
#include "tests/layers/differences.h"

namespace arenagrad::testing {
namespace {

constexpr std::uint64_t kSeed = 23;

class LayerConsistency : public ::testing::TestWithParam<Variant> {
 protected:
  LayerConsistency()
      : layer_(GetParam().make()),
        subject_{*layer_, GetParam().inputs, GetParam().batch},
        values_(draw_values(GetParam(), *layer_, kSeed)) {}

  Outcome run_in(const Scenario& scenario) const { return run(subject_, scenario, values_); }

  /// Every mode, policy and floating type.
  template <class Body>
  void for_each_scenario(Body body) const {
    for (const RunMode mode : modes_of(GetParam()))
      for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch})
        for (const DType dtype : {DType::f32, DType::f64}) {
          SCOPED_TRACE(std::string(mode == RunMode::train ? "train" : "eval") +
                       (policy == SavedPolicy::lean ? " lean " : " pytorch ") +
                       std::string(name(dtype)));
          body(Scenario{.mode = mode,
                        .policy = policy,
                        .dtype = dtype,
                        .updates_state = mode == RunMode::train});
        }
  }

  std::unique_ptr<Layer> layer_;
  Subject subject_;
  Values values_;
};

/// Stashes apart: of those that exist for their bytes alone, nothing is written.
void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_TRUE(same_bits(a.output, b.output)) << "output";
  EXPECT_TRUE(same_bits(a.states, b.states)) << "states";
  EXPECT_TRUE(same_bits(a.input_gradients, b.input_gradients)) << "input gradients";
  EXPECT_TRUE(same_bits(a.parameter_gradients, b.parameter_gradients)) << "parameter gradients";
}

TEST_P(LayerConsistency, NeitherThreadsNorMemoryMatter) {
  for_each_scenario([&](const Scenario& scenario) {
    const Outcome base = run_in(scenario);
    for (const int threads : {2, 3}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      Scenario other = scenario;
      other.threads = threads;
      expect_same(base, run_in(other));
    }
    SCOPED_TRACE("new memory is zero");
    Scenario other = scenario;
    other.fill = kZeroFill;
    expect_same(base, run_in(other));
  });
}

TEST_P(LayerConsistency, RunningInPlaceChangesNothing) {
  for_each_scenario([&](Scenario scenario) {
    const Needs needs = needs_of(subject_, scenario);
    if (needs.alias) return;
    EXPECT_FALSE(needs.forward_in_place && needs.reads_inputs[0]) << "would read what is gone";
    const Outcome base = run_in(scenario);
    scenario.forward_in_place = needs.forward_in_place;
    scenario.backward_in_place = needs.backward_in_place;
    expect_same(base, run_in(scenario));
  });
}

TEST_P(LayerConsistency, AForwardPassNeedNotSave) {
  for_each_scenario([&](Scenario scenario) {
    const Outcome saved = run_in(scenario);
    scenario.saves = false;
    const Outcome unsaved = run_in(scenario);
    EXPECT_TRUE(same_bits(saved.output, unsaved.output));
    EXPECT_TRUE(same_bits(saved.states, unsaved.states));
    const Needs needs = needs_of(subject_, scenario);
    scenario.forward_in_place = needs.forward_in_place;
    EXPECT_TRUE(same_bits(saved.output, run_in(scenario).output));
  });
}

TEST_P(LayerConsistency, PoliciesAgree) {
  for (const RunMode mode : modes_of(GetParam()))
    for (const DType dtype : {DType::f32, DType::f64}) {
      Scenario scenario{.mode = mode, .dtype = dtype};
      const Outcome lean = run_in(scenario);
      scenario.policy = SavedPolicy::pytorch;
      expect_same(lean, run_in(scenario));
      scenario.mask_is_float = false;
      expect_same(lean, run_in(scenario));
    }
}

TEST_P(LayerConsistency, NoGradIsEvalWithNothingKept) {
  for (const SavedPolicy policy : {SavedPolicy::lean, SavedPolicy::pytorch}) {
    Scenario scenario{.mode = RunMode::eval, .policy = policy};
    const Outcome eval = run_in(scenario);
    scenario.mode = RunMode::no_grad;
    scenario.saves = false;
    const Needs needs = needs_of(subject_, scenario);
    EXPECT_TRUE(needs.stashes.empty());
    EXPECT_FALSE(needs.reads_output);
    EXPECT_EQ(needs.backward_workspace, 0u);
    for (const bool reads : needs.reads_inputs) EXPECT_FALSE(reads);
    for (const bool keeps : needs.keeps_inputs) EXPECT_FALSE(keeps);
    EXPECT_TRUE(same_bits(eval.output, run_in(scenario).output));
    scenario.forward_in_place = needs.forward_in_place;
    EXPECT_TRUE(same_bits(eval.output, run_in(scenario).output));
  }
}

TEST_P(LayerConsistency, GradientsMayBeWantedInPartOrAdded) {
  for_each_scenario([&](Scenario scenario) {
    const Outcome whole = run_in(scenario);
    const double rounding = scenario.dtype == DType::f32 ? 1e-5 : 1e-12;
    const auto expect_equal = [&](const std::vector<List>& some, const std::vector<List>& all) {
      if (wanting_less_changes_no_bits()) {
        EXPECT_TRUE(same_bits(some, all));
        return;
      }
      ASSERT_EQ(some.size(), all.size());
      for (std::size_t i = 0; i < some.size(); ++i)
        EXPECT_LE(largest_difference(some[i], all[i]), rounding * std::max(1.0, largest(all[i])));
    };
    scenario.input_gradients = false;
    expect_equal(run_in(scenario).parameter_gradients, whole.parameter_gradients);
    scenario.input_gradients = true;
    scenario.parameter_gradients = false;
    expect_equal(run_in(scenario).input_gradients, whole.input_gradients);
    scenario.parameter_gradients = true;

    scenario.write = Write::accumulate;
    const Outcome added = run_in(scenario);
    const auto expect_added = [&](const std::vector<List>& before, const std::vector<List>& after) {
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        List want = before[i];
        for (std::size_t k = 0; k < want.size(); ++k) want[k] += prior_gradient(k);
        EXPECT_LE(largest_difference(want, after[i]), rounding * std::max(1.0, largest(want)));
      }
    };
    expect_added(whole.input_gradients, added.input_gradients);
    expect_added(whole.parameter_gradients, added.parameter_gradients);
  });
}

TEST_P(LayerConsistency, SinglePrecisionFollowsDouble) {
  for (const RunMode mode : modes_of(GetParam())) {
    Scenario scenario{.mode = mode, .dtype = DType::f64, .updates_state = mode == RunMode::train};
    const Outcome exact = run_in(scenario);
    scenario.dtype = DType::f32;
    const Outcome single = run_in(scenario);
    const auto expect_close = [](const char* what, const List& a, const List& b) {
      EXPECT_LE(largest_difference(a, b), 1e-5 * largest(a) + 1e-7) << what;
    };
    const auto expect_all_close = [&](const char* what, const std::vector<List>& a,
                                      const std::vector<List>& b) {
      ASSERT_EQ(a.size(), b.size()) << what;
      for (std::size_t i = 0; i < a.size(); ++i) expect_close(what, a[i], b[i]);
    };
    expect_close("output", exact.output, single.output);
    expect_all_close("states", exact.states, single.states);
    expect_all_close("input gradient", exact.input_gradients, single.input_gradients);
    expect_all_close("parameter gradient", exact.parameter_gradients, single.parameter_gradients);
  }
}

const auto variant_name = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Small, LayerConsistency, ::testing::ValuesIn(variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Large, LayerConsistency, ::testing::ValuesIn(large_variants()),
                         variant_name);

}  // namespace
}  // namespace arenagrad::testing
