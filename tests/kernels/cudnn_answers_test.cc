// What cuDNN answers for a device that isn't here, against what it was once seen to answer. Skipped
// where cuDNN isn't.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/kernels/cudnn_support.h"

namespace arenagrad::cudnn {
namespace {

const std::string kData = ARENAGRAD_SOURCE_DIR "/tests/data/cudnn/";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string h200() { return text_of(kData + "h200_device_properties.json"); }

struct Row {
  ConvKey key;
  std::string figures;  // plans to zero_strict, as written
};

std::vector<Row> rows() {
  std::istringstream csv(text_of(kData + "workspace_h200_cudnn9.19.csv"));
  std::vector<Row> rows;
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    const auto number = [&](std::size_t i) { return std::stoll(cells.at(i)); };
    ConvKey key;
    key.problem =
        square(number(3), number(4), number(5), number(6), number(7), number(8), number(9));
    key.pass = cells[2] == "forward"         ? ConvPass::forward
               : cells[2] == "backward_data" ? ConvPass::backward_data
                                             : ConvPass::backward_filter;
    key.layout = cells[1] == "NCHW" ? Layout::nchw : Layout::nhwc;
    key.type = cells[0] == "f16" ? DataType::f16 : DataType::f32;
    std::string figures;
    for (std::size_t i = 10; i < 16; ++i) figures += (i > 10 ? "," : "") + cells.at(i);
    rows.push_back({key, figures});
  }
  return rows;
}

std::string figures_of(const std::vector<Engine>& engines, DataType type) {
  const EnginePolicy strict;
  std::vector<std::size_t> welcome;
  for (const Engine& engine : engines)
    if (strict.welcomes(engine, type)) welcome.push_back(engine.workspace);
  std::ostringstream text;
  text << engines.size() << ',' << engines.at(0).workspace << ',' << welcome.size() << ','
       << welcome.at(0) << ',' << *std::ranges::min_element(welcome) << ','
       << std::ranges::count(welcome, 0u);
  return text.str();
}

#define SKIP_WITHOUT(source)                                  \
  if (source == nullptr) GTEST_SKIP() << "cuDNN is not here"; \
  if (source->version() != 91900) GTEST_SKIP() << "not cuDNN 9.19"

TEST(CudnnAnswers, AreThoseSeenBefore) {
  const auto source = cudnn_or_null(h200());
  SKIP_WITHOUT(source);
  const auto all = rows();
  ASSERT_EQ(all.size(), 72u);
  for (const Row& row : all) {
    const std::vector<Engine> engines = source->all(row.key);
    ASSERT_FALSE(engines.empty()) << text(row.key);
    EXPECT_EQ(figures_of(engines, row.key.type), row.figures) << text(row.key);
    EXPECT_EQ(source->all(row.key), engines) << "the second time: " << text(row.key);
  }
}

TEST(CudnnAnswers, TheFirstAcceptableIsTheFirstInTheList) {
  const auto source = cudnn_or_null(h200());
  SKIP_WITHOUT(source);
  std::vector<EnginePolicy> policies(4);
  policies[1].workspace = EnginePolicy::Workspace::none;
  policies[2].workspace = EnginePolicy::Workspace::limit;
  policies[2].limit = 1 << 20;
  policies[3].allow_tf32 = policies[3].allow_nondeterministic = true;
  for (const Row& row : rows()) {
    const std::vector<Engine> engines = source->all(row.key);
    for (const EnginePolicy& policy : policies) {
      const auto expected = std::ranges::find_if(
          engines, [&](const Engine& e) { return policy.accepts(e, row.key.type); });
      const EngineAnswer answer = source->first(row.key, policy);
      if (expected == engines.end()) {
        EXPECT_FALSE(answer.engine) << text(row.key);
        EXPECT_NE(answer.why.find("engines is acceptable"), std::string::npos) << answer.why;
      } else {
        EXPECT_EQ(answer.engine, *expected) << text(row.key);
      }
    }
  }
}

/// In this process, as a run does.
TEST(CudnnAnswers, EnginesAreRebuiltFromNumberAndKnobs) {
  const auto source = cudnn_or_null(h200());
  SKIP_WITHOUT(source);
  const CudnnApi api = load_cudnn();
  const Target target(api, h200());
  std::vector<ConvKey> keys;
  for (const Row& row : rows()) keys.push_back(row.key);
  for (ConvPass pass : {ConvPass::forward, ConvPass::backward_data, ConvPass::backward_filter}) {
    ConvProblem grouped = square(4, 32, 28, 32, 3, 1, 1);
    grouped.groups = 4;
    ConvProblem dilated = square(4, 32, 28, 32, 3, 1, 2);
    dilated.dilation_h = dilated.dilation_w = 2;
    dilated.out_h = dilated.out_w = 28;
    for (const ConvProblem& problem :
         {grouped, dilated, square(4, 32, 28, 32, 3, 1, 1, DType::f64)})
      keys.push_back(conv_key(problem, pass, pass != ConvPass::forward, Layout::nchw, 256));
  }
  std::size_t rebuilt = 0;
  for (const ConvKey& key : keys) {
    const auto engines = source->all(key);
    EXPECT_FALSE(engines.empty()) << text(key);
    for (const Engine& engine : engines) {
      EXPECT_EQ(Plan(target, key, engine).workspace(), engine.workspace)
          << text(key) << ", engine " << engine.id;
      ++rebuilt;
    }
  }
  EXPECT_GT(rebuilt, 1000u);
  Engine nonsense;
  nonsense.id = 99999;
  EXPECT_THROW(Plan(target, keys.front(), nonsense), DeviceError);
}

TEST(CudnnAnswers, ProblemsThatNoEngineDoesAreNoAccident) {
  const auto source = cudnn_or_null(h200());
  SKIP_WITHOUT(source);
  // The output is not the one that such a convolution has.
  ConvProblem wrong = square(2, 4, 8, 4, 3, 1, 1);
  wrong.out_h = 100;
  const ConvKey key = conv_key(wrong, ConvPass::forward, false, Layout::nchw, 256);
  EXPECT_FALSE(source->first(key, {}).engine);
  EXPECT_TRUE(source->all(key).empty());
  EXPECT_TRUE(source
                  ->first(conv_key(square(2, 4, 8, 4, 3, 1, 1), ConvPass::forward, false,
                                   Layout::nchw, 256),
                          {})
                  .engine);
}

std::string failure(
    const std::vector<std::string>& folders,
    const DescribeDevice& device = [](std::size_t) { return h200(); }) {
  try {
    ChildSource source(device, folders);
    return "it opened";
  } catch (const DeviceError& error) {
    return error.what();
  }
}

TEST(CudnnMissing, IsAnErrorThatNamesTheLibrary) {
  const std::string folder = ::testing::TempDir() + "arenagrad_no_cudnn";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(failure({folder}).rfind("cuDNN: expected libcublasLt.so.13, got none that opens (", 0),
            0u)
      << failure({folder});
}

TEST(CudnnMissing, ALibraryThatIsNoneIsAnErrorToo) {
  const std::string folder = ::testing::TempDir() + "arenagrad_false_cudnn";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/libcublasLt.so.13") << "not a library\n";
  EXPECT_NE(failure({folder}).find("got none that opens"), std::string::npos) << failure({folder});
}

/// Ended by a signal, as cuDNN does with itself: an error with its last words, not our end.
TEST(CudnnMissing, AProcessThatEndsIsAnError) {
  const auto source = cudnn_or_null(h200());
  SKIP_WITHOUT(source);
  const std::string text = failure({}, [](std::size_t) -> std::string {
    std::fputs("a word before\nlast words\n", stderr);
    std::fflush(stderr);
    std::abort();
  });
  EXPECT_EQ(text,
            "cuDNN: expected an answer, got none: its process ended by signal 6 (it said: last "
            "words)");
  EXPECT_NE(failure({}, [](std::size_t) { return std::string("{}"); }).find("device properties"),
            std::string::npos);
}

}  // namespace
}  // namespace arenagrad::cudnn
