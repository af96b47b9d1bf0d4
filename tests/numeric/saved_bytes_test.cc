// Under policy pytorch, the bytes saved for backward are PyTorch's, to the byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "graph/plan.h"
#include "zoo/model.h"

namespace arenagrad {
namespace {

const std::string kRoot = ARENAGRAD_SOURCE_DIR;

/// nll_loss keeps the sum of the labels' weights, one float for each recorded forward.
constexpr std::size_t kTotalWeight = 4;

struct Measured {
  std::string model;
  RunMode run;
  std::int64_t batch;
  std::size_t graph_owned, samples, labels;

  std::size_t saved() const { return graph_owned + samples + labels; }
};

std::vector<Measured> read_measured() {
  std::ifstream file(kRoot + "/tests/data/pytorch_saved_bytes.csv");
  std::vector<Measured> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#') || line.starts_with("model,")) continue;
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields(line);
    std::string run;
    Measured row;
    if (fields >> row.model >> run >> row.batch >> row.graph_owned >> row.samples >> row.labels) {
      row.run = run == "train" ? RunMode::train : RunMode::eval;
      rows.push_back(row);
    }
  }
  return rows;
}

Model zoo_model(const std::string& name) { return load_model(kRoot + "/zoo/" + name + ".json"); }

SavedBytes saved(const Model& model, RunMode run, Batching batching,
                 GradientMode mode = GradientMode::full_batch) {
  PlanOptions options;
  options.batching = batching;
  options.mode = mode;
  options.policy = SavedPolicy::pytorch;
  options.run = run;
  return saved_bytes(plan(model.tape, cpu_profile(), options), model.tape);
}

/// Batch norm's mean and inverse standard deviation of the batch: kept in train mode, whatever the
/// batch.
std::size_t batch_statistics(const Tape& tape) {
  std::size_t bytes = 0;
  for (const TapeState& state : tape.states())
    if (!state.dtype) bytes += static_cast<std::size_t>(state.shape.elements()) * sizeof(float);
  return bytes;
}

TEST(PytorchSavedBytes, ArePytorchsToTheByte) {
  const std::vector<Measured> rows = read_measured();
  ASSERT_EQ(rows.size(), 12u);
  for (const Measured& row : rows) {
    const Model model = zoo_model(row.model);
    EXPECT_EQ(saved(model, row.run, {row.batch, row.batch}).total, row.saved())
        << row.model << ", " << name(row.run) << ", batch " << row.batch;
  }
}

TEST(PytorchSavedBytes, AreLinearInTheBatch) {
  for (const Measured& row : read_measured()) {
    const Model model = zoo_model(row.model);
    const std::size_t fixed =
        kTotalWeight + (row.run == RunMode::train ? batch_statistics(model.tape) : 0);
    const auto batch = static_cast<std::size_t>(row.batch);
    ASSERT_EQ((row.saved() - fixed) % batch, 0u) << row.model;
    const std::size_t per_sample = (row.saved() - fixed) / batch;
    for (std::size_t n : {3u, 10u, 64u, 257u}) {
      const auto samples = static_cast<std::int64_t>(n);
      const SavedBytes bytes = saved(model, row.run, {samples, samples});
      EXPECT_EQ(bytes.total, per_sample * n + fixed) << row.model << ", batch " << n;
      EXPECT_EQ(bytes.per_sample, per_sample) << row.model;
      EXPECT_EQ(bytes.fixed, fixed) << row.model;
      EXPECT_EQ(bytes.samples, samples);
    }
  }
}

TEST(PytorchSavedBytes, FollowTheGradientMode) {
  const Model model = zoo_model("resnet18");
  const Batching batching{.batch = 64, .micro_batch = 16};
  const auto total = [&](GradientMode mode) {
    return saved(model, RunMode::train, batching, mode).total;
  };
  EXPECT_EQ(total(GradientMode::full_batch), 1'419'804'676u);
  EXPECT_EQ(total(GradientMode::accumulated_graph), 1'419'919'888u);
  EXPECT_EQ(total(GradientMode::per_step), 354'979'972u);
}

}  // namespace
}  // namespace arenagrad
