// Pieces against plans: what a line says is what a dry run finds, batch by batch.
#include "experiments/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/experiments/random_nets.h"
#include "tests/experiments/small_models.h"

namespace arenagrad {
namespace {

constexpr GradientMode kModes[] = {GradientMode::full_batch, GradientMode::accumulated_graph,
                                   GradientMode::per_step};

SweepOptions options_up_to(std::int64_t most, Settings settings) {
  SweepOptions options;
  options.settings = std::move(settings);
  options.batches.resize(static_cast<std::size_t>(most));
  std::iota(options.batches.begin(), options.batches.end(), 1);
  options.modes.assign(std::begin(kModes), std::end(kModes));
  return options;
}

const SweepPiece* piece_of(const Decomposition& decomposition, std::int64_t batch) {
  for (const auto& piece : decomposition.pieces)
    if (piece.from <= batch && batch <= piece.to) return &piece;
  return nullptr;
}

/// The judge is the dry run, which knows nothing of lines.
void expect_on_its_line(const Model& model, const Settings& settings, const Decomposition& d) {
  const auto& batching = settings.plan.batching;
  const bool uneven =
      d.mode == GradientMode::accumulated_graph && batching.batch % batching.micro_batch != 0;
  if (uneven) return;
  const auto* piece = piece_of(d, batching.batch);
  ASSERT_NE(piece, nullptr) << name(d.mode) << ", batch " << batching.batch;
  const auto bytes = run_dry(model, settings).measurement.bytes.by_category_at_peak;
  const auto said = piece->line.at(batching.batch, forwards(settings.plan));
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    EXPECT_EQ(said[c], static_cast<std::int64_t>(bytes[c]))
        << name(d.mode) << ", batch " << batching.batch << ", " << kCategoryNames[c];
}

TEST(Sweep, EveryBatchOfRandomNetsIsOnItsLine) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 draw(seed);
    const auto model = test::random_net(draw);
    auto options = options_up_to(13, test::random_settings(draw));
    options.micro_batch = 1 + static_cast<std::int64_t>(draw() % 4);
    const auto swept = sweep(
        [&](auto) {
          std::mt19937 again(seed);
          return test::random_net(again);
        },
        options);
    ASSERT_EQ(swept.decompositions.size(), 3u);
    for (const auto& one : swept.decompositions)
      for (const auto batch : options.batches)
        expect_on_its_line(
            model, at_batch(in_mode(options.settings, one.mode), batch, options.micro_batch), one);
  }
}

TEST(Sweep, TheRulingLineHoldsFromWhereItSays) {
  const auto options = options_up_to(24, Settings{});
  const auto swept = sweep([](auto) { return test::small_net(true); }, options);
  for (const auto& one : swept.decompositions) {
    std::size_t largest = 0;
    for (const auto& point : swept.points) {
      if (point.mode != one.mode || point.batch < one.valid_from) continue;
      const auto plan = at_batch(in_mode(options.settings, one.mode), point.batch, {}).plan;
      const auto said = total(one.line.at(point.batch, forwards(plan)));
      largest = std::max(largest, static_cast<std::size_t>(std::llabs(
                                      said - static_cast<std::int64_t>(point.peak.requested))));
    }
    EXPECT_EQ(largest, one.largest_residual) << name(one.mode);
    EXPECT_EQ(one.residual_cause.empty(), largest == 0);
  }
}

TEST(Sweep, PerStepDoesNotGrowAndAccumulatedGraphGrowsByWhatAForwardKeeps) {
  const auto options = options_up_to(8, Settings{});
  const auto swept = sweep([](auto) { return test::small_net(true); }, options);
  const auto& accumulated = swept.decompositions[1];
  const auto& per_step = swept.decompositions[2];
  EXPECT_EQ(total(per_step.line.per_sample), 0);
  const auto model = test::small_net(true);
  const auto saved =
      saved_bytes(prepare(model, at_batch(options.settings, 8, {})).program, model.tape);
  // The loss's value is kept as well, though no backward reads it.
  EXPECT_EQ(total(accumulated.line.per_sample), static_cast<std::int64_t>(saved.per_sample));
  EXPECT_GE(total(accumulated.line.per_forward), static_cast<std::int64_t>(saved.fixed));
  EXPECT_LE(total(accumulated.line.per_forward), static_cast<std::int64_t>(saved.fixed) + 4);
}

TEST(Sweep, APointThatCannotBePlannedSaysWhyAndTheOthersStand) {
  const char* text = R"({"name": "tiny", "input": [1, 1, 1], "classes": 2, "layers": [
      {"name": "bn", "op": "batch_norm"}, {"name": "flatten", "op": "flatten"},
      {"name": "fc", "op": "linear", "out_features": 2}]})";
  auto options = options_up_to(3, Settings{});
  options.modes = {GradientMode::full_batch};
  const auto swept = sweep([&](auto) { return parse_model(text, "tiny.json"); }, options);
  EXPECT_NE(swept.points[0].error, "");
  EXPECT_EQ(swept.points[1].error, "");
  EXPECT_EQ(swept.decompositions[0].pieces.front().from, 2);
}

TEST(Sweep, PeaksAloneAreThoseOfTheWhole) {
  auto options = options_up_to(5, {});
  options.settings.steps = 2;
  const auto source = [](auto) { return test::small_net(true); };
  const auto whole = sweep(source, options);
  options.peaks_alone = true;
  const auto alone = sweep(source, options);
  ASSERT_EQ(alone.points.size(), whole.points.size());
  for (std::size_t i = 0; i < whole.points.size(); ++i) {
    EXPECT_EQ(alone.points[i].error, whole.points[i].error);
    EXPECT_EQ(alone.points[i].peak.by_category, whole.points[i].peak.by_category);
    EXPECT_EQ(alone.points[i].peak.line, whole.points[i].peak.line);
    EXPECT_EQ(alone.points[i].footprint, 0u);
  }
  for (std::size_t m = 0; m < whole.decompositions.size(); ++m)
    EXPECT_EQ(alone.decompositions[m].line, whole.decompositions[m].line);
}

TEST(Sweep, ACapacityMarksWhatDoesNotFitAndLeavesTheLineAlone) {
  auto options = options_up_to(6, Settings{});
  options.modes = {GradientMode::full_batch};
  const auto free = sweep([](auto) { return test::small_net(false); }, options);
  options.settings.capacity = free.points[2].reserved;
  const auto tight = sweep([](auto) { return test::small_net(false); }, options);
  EXPECT_TRUE(tight.points[2].fits);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(tight.points[i].fits, free.points[i].reserved <= *options.settings.capacity);
  EXPECT_EQ(tight.decompositions[0].line, free.decompositions[0].line);
}

struct SavedOfModel {
  const char* model;
  std::size_t per_sample;
};

class SavedBytesOfModels : public testing::TestWithParam<SavedOfModel> {};

/// What PyTorch's autograd keeps, by its saved-tensor hooks: 16 samples less 8 are 8 samples.
TEST_P(SavedBytesOfModels, GrowByTheKnownBytesPerSample) {
  SweepOptions options;
  options.settings.plan.policy = SavedPolicy::pytorch;
  options.batches = {8, 16};
  options.modes = {GradientMode::full_batch};
  const auto swept = sweep([](auto) { return load_model(GetParam().model); }, options);
  EXPECT_EQ(swept.points[1].saved.total - swept.points[0].saved.total, 8 * GetParam().per_sample);
  EXPECT_EQ(swept.points[0].saved.per_sample, GetParam().per_sample);
}

INSTANTIATE_TEST_SUITE_P(ResNets, SavedBytesOfModels,
                         testing::Values(SavedOfModel{"resnet18", 22'183'848},
                                         SavedOfModel{"resnet34", 32'219'048},
                                         SavedOfModel{"resnet50", 85'913'512},
                                         SavedOfModel{"resnet101", 126'857'128},
                                         SavedOfModel{"resnet152", 177'434'536}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST(Sweep, RunsPointsForReal) {
  SweepOptions options;
  options.settings.threads = 1;
  options.batches = {1, 3};
  options.modes = {GradientMode::per_step};
  options.real = true;
  const auto swept = sweep([](auto) { return test::small_net(false); }, options);
  for (const auto& point : swept.points) {
    ASSERT_TRUE(point.real) << point.real_error;
    EXPECT_TRUE(point.real->same_ledger);
  }
}

}  // namespace
}  // namespace arenagrad
