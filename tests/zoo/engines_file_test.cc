#include "zoo/engines_file.h"

#include <gtest/gtest.h>

#include "zoo/spec_error.h"

namespace arenagrad {
namespace {

using namespace cudnn;

ConvKey key(ConvPass pass, bool added, DType dtype = DType::f32) {
  const ConvProblem problem{.batch = 4,
                            .in_channels = 8,
                            .in_h = 16,
                            .in_w = 20,
                            .out_channels = 12,
                            .kernel_h = 3,
                            .kernel_w = 5,
                            .stride_h = 2,
                            .stride_w = 1,
                            .pad_h = 1,
                            .pad_w = 2,
                            .dilation_h = 1,
                            .dilation_w = 2,
                            .groups = 4,
                            .out_h = 8,
                            .out_w = 16,
                            .dtype = dtype};
  return conv_key(problem, pass, added, Layout::nhwc, 256);
}

EnginesFile example() {
  EnginesFile file{
      .cudnn = 91900, .device = "h200", .properties = "00ff", .policy = {}, .answers = {}};
  Notes notes;
  notes.add("winograd");
  notes.add("runtime_compilation");
  file.answers[key(ConvPass::forward, false)] = {Engine{7, {}, 0, {}}, ""};
  file.answers[key(ConvPass::backward_data, true)] = {Engine{41, {{3, -1}, {4, 9}}, 123456, notes},
                                                      ""};
  file.answers[key(ConvPass::backward_filter, false, DType::f64)] = {std::nullopt, "none of 3"};
  return file;
}

void expect_equal(const EnginesFile& a, const EnginesFile& b) {
  EXPECT_EQ(a.cudnn, b.cudnn);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.properties, b.properties);
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_EQ(a.answers, b.answers);
}

TEST(EnginesFile, ReadsBackAsWritten) {
  EnginesFile file = example();
  expect_equal(parse_engines(to_text(file), "e.json"), file);
  file.policy.workspace = EnginePolicy::Workspace::none;
  file.policy.allow_tf32 = true;
  expect_equal(parse_engines(to_text(file), "e.json"), file);
  file.policy.workspace = EnginePolicy::Workspace::limit;
  file.policy.limit = 1 << 20;
  file.policy.allow_nondeterministic = true;
  file.answers.clear();
  expect_equal(parse_engines(to_text(file), "e.json"), file);
}

TEST(EnginesFile, ErrorsSayWhereAndWhat) {
  const std::string good = to_text(example());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const struct {
    std::string text, message;
  } rows[] = {
      {"7", "e.json: expected an engines file: an object, found 7"},
      {with("\"engines\": 1", "\"engines\": 2"),
       "e.json: /engines: expected 1, the version of the format, found 2"},
      {with("\"cudnn\": 91900", "\"cudnn\": \"9.19\""),
       "e.json: /cudnn: expected an integer of at least 1, found \"9.19\""},
      {with("\"heuristic\"", "\"all\""),
       "e.json: /policy/workspace: expected heuristic, none or bytes, found \"all\""},
      {with("\"pass\":\"forward\"", "\"pass\":\"sideways\""),
       "e.json: /answers/0/pass: expected one of forward, backward_data, backward_filter, found "
       "\"sideways\""},
      {with("\"input\":[4,8,16,20]", "\"input\":[4,8,16]"),
       "e.json: /answers/0/input: expected 4 integers in a list, found an array of 3"},
      {with("\"input\":[4,8,16,20]", "\"input\":[4,8,16,3]"),
       "e.json: /answers/0: expected a window that fits its input, found none that does"},
      {with("\"input\":[4,8,16,20]", "\"input\":[4,8,99999999999,20]"),
       "e.json: /answers/0: expected sizes of at most 2^31, found 99999999999"},
      {with("\"groups\":4", "\"groups\":3"),
       "e.json: /answers/0: expected filters over 8 / 3 channels, found 2"},
      {with("\"winograd\"", "\"wizard\""),
       "e.json: /answers/1/notes/0: expected a note of cuDNN, found \"wizard\""},
      {with("[3,-1]", "[3]"),
       "e.json: /answers/1/knobs/0: expected [kind, value], found an array "
       "of 1"},
      {with("\"workspace\":123456", "\"workspace\":-1"),
       "e.json: /answers/1/workspace: expected an integer of at least 0, found -1"},
      {with("\"type\":\"f32\"", "\"type\":\"f16\""),
       "e.json: /answers/0/type: expected one of f32, f64, found \"f16\""},
      {with("backward_data", "forward"), ""},  // not the same problem: one of them is added
  };
  for (const auto& [text, message] : rows) {
    try {
      parse_engines(text, "e.json");
      EXPECT_EQ(message, "") << "accepted: " << text;
    } catch (const SpecError& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
  std::string twice = good;
  const std::size_t begin = twice.find("    {\"pass\""), end = twice.find('\n', begin);
  twice.insert(begin, twice.substr(begin, end - begin + 1));
  try {
    parse_engines(twice, "e.json");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_STREQ(error.what(), "e.json: /answers/1: expected each problem once, found it again");
  }
}

}  // namespace
}  // namespace arenagrad
