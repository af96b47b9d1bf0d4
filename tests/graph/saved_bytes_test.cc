#include <gtest/gtest.h>

#include "graph/plan.h"
#include "tests/graph/toy_layers.h"

namespace arenagrad {
namespace {

using toy::Net;

// x (10 floats) -> a -> rectifier -> b -> loss. Saved per sample: x 40 (a), the rectifier's output
// in place of a's 40 (rectifier and b), b's output 40 and the label 8 (loss).
Tape tape_with_statistics(bool statistics) {
  Net net;
  net.then("a", toy::weighted());
  net.then("r", toy::rectifier());
  net.then("b", toy::layer({.reads_inputs = {true},
                            .stashes = statistics ? std::vector<StashSpec>{{.name = "statistics",
                                                                            .shape = Shape{3},
                                                                            .dtype = DType::f32,
                                                                            .per_sample = false}}
                                                  : std::vector<StashSpec>{}},
                           5));
  return net.finish();
}

SavedBytes saved(const Tape& tape, std::int64_t batch, std::int64_t micro, GradientMode mode) {
  PlanOptions options;
  options.batching = {batch, micro};
  options.mode = mode;
  return saved_bytes(plan(tape, toy::profile(), options), tape);
}

constexpr std::size_t kPerSample = 40 + 40 + 40 + 8;

TEST(SavedBytes, LinearInTheBatch) {
  const Tape tape = tape_with_statistics(false);
  for (std::int64_t n : {1, 2, 7}) {
    const SavedBytes s = saved(tape, n, n, GradientMode::full_batch);
    EXPECT_EQ(s.total, kPerSample * static_cast<std::size_t>(n));
    EXPECT_EQ(s.per_sample, kPerSample);
    EXPECT_EQ(s.fixed, 0u);
    EXPECT_EQ(s.samples, n);
  }
}

TEST(SavedBytes, ModesDifferAsTheFormulasSay) {
  const Tape tape = tape_with_statistics(true);
  constexpr std::size_t kFixed = 12;
  const SavedBytes full = saved(tape, 12, 3, GradientMode::full_batch);
  const SavedBytes graph = saved(tape, 12, 3, GradientMode::accumulated_graph);
  const SavedBytes step = saved(tape, 12, 3, GradientMode::per_step);
  EXPECT_EQ(full.total, 12 * kPerSample + kFixed);
  EXPECT_EQ(graph.total, 12 * kPerSample + 4 * kFixed);
  EXPECT_EQ(step.total, 3 * kPerSample + kFixed);
  for (const SavedBytes& s : {full, graph, step}) {
    EXPECT_EQ(s.per_sample, kPerSample);
    EXPECT_EQ(s.total, s.per_sample * static_cast<std::size_t>(s.samples) + s.fixed);
  }
}

TEST(SavedBytes, UnevenMicroBatches) {
  const Tape tape = tape_with_statistics(true);
  EXPECT_EQ(saved(tape, 10, 4, GradientMode::accumulated_graph).total, 10 * kPerSample + 3 * 12);
  // Per-step: the largest of its micro-batches, not the last and smaller one.
  EXPECT_EQ(saved(tape, 10, 4, GradientMode::per_step).total, 4 * kPerSample + 12);
}

TEST(SavedBytes, ChargesEachBufferToTheFirstNodeThatSavesIt) {
  const Tape tape = tape_with_statistics(true);
  const SavedBytes s = saved(tape, 2, 2, GradientMode::full_batch);
  EXPECT_EQ(s.by_node, (std::vector<std::size_t>{80, 80, 12, 96}));
}

TEST(SavedBytes, WhatThePolicyKeepsCountsThoughNobodyReadsIt) {
  Net net;
  net.then("a", toy::weighted());
  net.then("pool", toy::layer({.keeps_inputs = {true}}));
  const Tape tape = net.finish();
  EXPECT_EQ(saved(tape, 1, 1, GradientMode::full_batch).total, 40u + 40 + 40 + 8);
}

}  // namespace
}  // namespace arenagrad
