// Choosing engines, without cuDNN.
#include <sstream>

#include "kernels/cudnn/wire.h"
#include "tests/kernels/cudnn_support.h"

namespace arenagrad::cudnn {
namespace {

Engine engine(std::int64_t id, std::size_t workspace, std::uint32_t numerical = 0) {
  return {id, {{1, 2}}, workspace, {numerical, 0}};
}

constexpr std::uint32_t bit(NumericalNote note) { return 1u << static_cast<int>(note); }

EnginePlanner planner_of(ScriptedSource::Answer answer, int* asked) {
  return EnginePlanner({},
                       [answer, asked] { return std::make_unique<ScriptedSource>(answer, asked); });
}

const ConvProblem kProblem = square(4, 8, 16, 8, 3, 1, 1);

TEST(EnginePolicy, TrueFloatsAndSameBitsUnlessToldOtherwise) {
  const Engine plain = engine(1, 0), random = engine(1, 0, bit(NumericalNote::nondeterministic));
  const Engine tf32 = engine(1, 0, bit(NumericalNote::tensor_core));
  const Engine narrow = engine(1, 0, bit(NumericalNote::down_converts_inputs));
  const Engine winograd = engine(1, 0, bit(NumericalNote::winograd) | bit(NumericalNote::fft));
  const EnginePolicy strict;
  EXPECT_TRUE(strict.welcomes(plain, DataType::f32));
  EXPECT_TRUE(strict.welcomes(winograd, DataType::f32));
  EXPECT_FALSE(strict.welcomes(random, DataType::f32));
  EXPECT_FALSE(strict.welcomes(random, DataType::f64));
  EXPECT_FALSE(strict.welcomes(tf32, DataType::f32));
  EXPECT_FALSE(strict.welcomes(narrow, DataType::f32));
  EXPECT_TRUE(strict.welcomes(tf32, DataType::f64));  // computes in f64 there

  EnginePolicy rounding;
  rounding.allow_tf32 = true;
  EXPECT_TRUE(rounding.welcomes(tf32, DataType::f32));
  EXPECT_TRUE(rounding.welcomes(narrow, DataType::f32));
  EXPECT_FALSE(rounding.welcomes(random, DataType::f32));
  EnginePolicy loose;
  loose.allow_nondeterministic = true;
  EXPECT_TRUE(loose.welcomes(random, DataType::f32));
  EXPECT_FALSE(loose.welcomes(tf32, DataType::f32));
}

TEST(EnginePolicy, WorkspaceRules) {
  EnginePolicy policy;
  EXPECT_TRUE(policy.accepts(engine(1, 1u << 30), DataType::f32));
  policy.workspace = EnginePolicy::Workspace::none;
  EXPECT_TRUE(policy.accepts(engine(1, 0), DataType::f32));
  EXPECT_FALSE(policy.accepts(engine(1, 1), DataType::f32));
  policy.workspace = EnginePolicy::Workspace::limit;
  policy.limit = 100;
  EXPECT_TRUE(policy.accepts(engine(1, 100), DataType::f32));
  EXPECT_FALSE(policy.accepts(engine(1, 101), DataType::f32));
}

TEST(EnginePlanner, AsksEachDistinctProblemOnce) {
  int asked = 0;
  const auto planner = planner_of(
      [](const ConvKey& key) {
        return EngineAnswer{engine(key.accumulate ? 8 : 7, key.accumulate ? 200 : 100), ""};
      },
      &asked);
  for (int i = 0; i < 3; ++i) {
    const ConvChoice written =
        planner.convolution(kProblem, ConvPass::backward_data, Write::overwrite);
    const ConvChoice added =
        planner.convolution(kProblem, ConvPass::backward_data, Write::accumulate);
    EXPECT_EQ(written.engine, 0);
    EXPECT_EQ(added.engine, 0);  // one number for both, so that layers may add
    EXPECT_EQ(written.workspace, 100u);
    EXPECT_EQ(added.workspace, 200u);
  }
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(planner.asked(), 2u);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::forward, Write::overwrite).engine, 1);
  ConvProblem other = kProblem;
  other.batch = 5;
  EXPECT_EQ(planner.convolution(other, ConvPass::forward, Write::overwrite).engine, 2);
  EXPECT_EQ(asked, 4);

  const PinnedEngines& pinned = planner.pinned(0);
  EXPECT_EQ(pinned.key.problem, kProblem);
  EXPECT_EQ(pinned.key.alignment, 256u);
  EXPECT_FALSE(pinned.key.accumulate);
  EXPECT_EQ(pinned.overwrite.id, 7);
  ASSERT_TRUE(pinned.accumulate);
  EXPECT_EQ(pinned.accumulate->id, 8);
  EXPECT_FALSE(planner.pinned(1).accumulate);
  EXPECT_THROW(planner.pinned(3), ContractError);
  EXPECT_THROW(planner.pinned(kNoEngine), ContractError);
  EXPECT_TRUE(planner.complete());
}

TEST(EnginePlanner, NothingThatAddsIsNoError) {
  int asked = 0;
  const auto planner = planner_of(
      [](const ConvKey& key) {
        return key.accumulate ? EngineAnswer{std::nullopt, "no"} : EngineAnswer{engine(7, 9), ""};
      },
      &asked);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::backward_filter, Write::overwrite).engine, 0);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::backward_filter, Write::accumulate).engine,
            kNoEngine);
  EXPECT_TRUE(planner.complete());
}

TEST(EnginePlanner, NothingThatWritesIsAnExplainedError) {
  int asked = 0;
  const auto planner = planner_of(
      [](const ConvKey&) {
        return EngineAnswer{std::nullopt, "none of 3 is acceptable"};
      },
      &asked);
  try {
    planner.convolution(kProblem, ConvPass::forward, Write::overwrite);
    FAIL() << "an engine out of nothing";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "cuDNN: expected an engine, got none (none of 3 is acceptable), in convolution "
                 "forward f32 nchw 4x8x16x16 * 8x8x3x3 stride 1x1 pad 1x1");
  }
}

TEST(EnginePlanner, WithoutCudnnPlansGoOnWithoutWorkspace) {
  const EnginePlanner planner(
      {}, []() -> std::unique_ptr<EngineSource> { throw DeviceError("cuDNN: nowhere"); });
  EXPECT_TRUE(planner.complete());
  for (const Write write : {Write::overwrite, Write::accumulate}) {
    const ConvChoice choice = planner.convolution(kProblem, ConvPass::backward_data, write);
    EXPECT_EQ(choice.engine, kNoEngine);
    EXPECT_EQ(choice.workspace, 0u);
  }
  EXPECT_FALSE(planner.complete());
  EXPECT_EQ(planner.unknown().size(), 1u);
  EXPECT_EQ(planner.why_unknown(), "cuDNN: nowhere");
  EXPECT_TRUE(planner.table().empty());
}

TEST(EnginePlanner, ACudnnThatDiesLeavesItsAnswers) {
  int asked = 0;
  const auto planner = planner_of(
      [](const ConvKey& key) -> EngineAnswer {
        if (key.pass == ConvPass::backward_filter) throw DeviceError("it ended");
        return {engine(7, 11), ""};
      },
      &asked);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::forward, Write::overwrite).workspace, 11u);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::backward_filter, Write::overwrite).engine,
            kNoEngine);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::backward_data, Write::overwrite).engine,
            kNoEngine);
  EXPECT_EQ(asked, 2);  // nobody is asked again
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::forward, Write::overwrite).workspace, 11u);
  EXPECT_EQ(planner.unknown().size(), 2u);
  EXPECT_EQ(planner.why_unknown(), "it ended");
}

TEST(EnginePlanner, KnownAnswersAreNotAsked) {
  int asked = 0, opened = 0;
  EnginePlanner planner({}, [&]() -> std::unique_ptr<EngineSource> {
    ++opened;
    return std::make_unique<ScriptedSource>(
        [](const ConvKey&) {
          return EngineAnswer{engine(1, 1), ""};
        },
        &asked);
  });
  planner.know(
      {{conv_key(kProblem, ConvPass::forward, false, Layout::nchw, 256), {engine(5, 55), ""}}});
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::forward, Write::overwrite).workspace, 55u);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(planner.version(), 0u);
  EXPECT_EQ(planner.convolution(kProblem, ConvPass::backward_data, Write::overwrite).workspace, 1u);
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(planner.version(), 91900u);
  EXPECT_EQ(planner.answers().size(), 2u);
}

TEST(EnginePlanner, LibrariesHaveTheirWorkspaceElsewhere) {
  const EnginePlanner planner({}, nullptr);
  EXPECT_EQ(planner.linear_workspace(
                {.batch = 8, .in_features = 3, .out_features = 5, .dtype = DType::f32},
                ConvPass::forward),
            0u);
  const BatchNormProblem norm{.batch = 2, .channels = 6, .spatial = 9, .dtype = DType::f32};
  EXPECT_EQ(planner.batch_norm_workspace(norm, false), 0u);
  EXPECT_EQ(planner.batch_norm_workspace(norm, true), 2 * 6 * 4u);
  EXPECT_EQ(cuda_profile(7).library, std::size_t{4} << 20);
  EXPECT_EQ(cuda_profile(8).library, std::size_t{4} << 20);
  EXPECT_EQ(cuda_profile(9).library, std::size_t{32} << 20);
  EXPECT_EQ(cuda_profile(10).library, std::size_t{32} << 20);
  EXPECT_EQ(cuda_profile(12).library, std::size_t{12} << 20);
  EXPECT_FALSE(cuda_profile(9).dropout_mask_is_float);
}

TEST(Notes, NamesReadBack) {
  for (std::uint32_t numerical = 0; numerical < 1u << kNumericalNotes; numerical += 37)
    for (std::uint32_t behaviour = 0; behaviour < 1u << kBehaviourNotes; behaviour += 3) {
      const Notes notes{numerical, behaviour};
      Notes back;
      for (const std::string& name : names(notes)) EXPECT_TRUE(back.add(name)) << name;
      EXPECT_EQ(back, notes);
    }
  Notes none;
  EXPECT_FALSE(none.add("tensor_cores"));
}

std::string line_of(const EngineAnswer& answer) {
  std::ostringstream out;
  write(out, answer);
  return out.str();
}

TEST(Wire, AnswersReadBack) {
  const Engine seven{7, {{1, 2}, {3, -4}}, 4096, {5, 1}};
  EXPECT_EQ(read_answer(line_of({seven, ""})), (EngineAnswer{seven, ""}));
  EXPECT_EQ(read_answer(line_of({std::nullopt, "none of 3 is\nacceptable"})),
            (EngineAnswer{std::nullopt, "none of 3 is acceptable"}));
}

/// Not the answer that there is no engine: nobody may plan on that.
TEST(Wire, AProcessThatIsLostIsAnError) {
  try {
    read_answer(lost("cuDNN: expected success,\ngot 3000"));
    FAIL() << "an answer from a process that is lost";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "cuDNN: expected success, got 3000");
  }
  EXPECT_THROW(read_answer("nothing of ours"), ContractError);
  EXPECT_THROW(read_answer(""), ContractError);
}

}  // namespace
}  // namespace arenagrad::cudnn
