#include <gtest/gtest.h>

#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

using Kind = TraceEvent::Kind;

TEST(JsonLines, ReadsAllThatAnEventSays) {
  const TraceLog trace = read_as("jsonl", small_trace());
  EXPECT_EQ(trace.header().name, "small \"net\"");
  EXPECT_EQ(trace.header().alignment, 64u);
  ASSERT_EQ(trace.events().size(), 17u);
  const TraceEvent& scope = trace.events()[4];
  EXPECT_EQ(scope.kind, Kind::scope);
  EXPECT_EQ(scope.step, 1);
  EXPECT_EQ(scope.phase, "forward");
  EXPECT_EQ(scope.name, "conv1");
  const TraceEvent& born = trace.events()[5];
  EXPECT_EQ(born.kind, Kind::allocate);
  EXPECT_EQ(born.id, 1u);
  EXPECT_EQ(born.bytes, 4000u);
  EXPECT_EQ(born.granted, 4032u);
  EXPECT_EQ(born.offset, 128u);
  EXPECT_EQ(born.category, Category::activation);
  EXPECT_EQ(born.name, "conv1 output \xc3\xa9");
  EXPECT_EQ(born.time, kUnknownTime);
  EXPECT_EQ(born.alignment, 0u);
}

TEST(JsonLines, WritesWhatItRead) {
  const std::string text = write_as("jsonl", read_as("jsonl", small_trace()));
  const TraceLog again = read_as("jsonl", text);
  expect_equal(read_as("jsonl", small_trace()).events(), again.events());
  EXPECT_EQ(write_as("jsonl", again), text);
}

TEST(JsonLines, EmptyLinesAndCarriageReturnsAreNothing) {
  const TraceLog trace =
      read_as("jsonl",
              "\xef\xbb\xbf{\"arenagrad_trace\":1}\r\n\r\n"
              "{\"op\":\"allocate\",\"id\":7,\"bytes\":1,\"alignment\":16,\"time\":3}\r\n"
              "\n{\"op\":\"free\",\"id\":7,\"time\":3}");
  ASSERT_EQ(trace.events().size(), 2u);
  EXPECT_EQ(trace.events()[0].alignment, 16u);
  EXPECT_EQ(trace.events()[1].time, 3u);
}

struct Bad {
  const char* name;
  std::string lines;  // after a header, unless it begins with '!'
  std::string error;
};

std::string allocate(const std::string& more) { return "{\"op\":\"allocate\"," + more + "}\n"; }

class JsonLinesErrors : public ::testing::TestWithParam<Bad> {};

TEST_P(JsonLinesErrors, NameTheLine) {
  const Bad& bad = GetParam();
  const std::string text =
      bad.lines.starts_with('!') ? bad.lines.substr(1) : "{\"arenagrad_trace\":1}\n" + bad.lines;
  EXPECT_EQ(error_of("jsonl", text), bad.error + " of file");
}

INSTANTIATE_TEST_SUITE_P(
    All, JsonLinesErrors,
    ::testing::Values(
        Bad{"Empty", "!", "expected a header, got an empty file, at line 0"},
        Bad{"NoHeader", "!{\"op\":\"free\",\"id\":1}",
            "header: expected the key 'arenagrad_trace', got none, at line 1"},
        Bad{"Version", "!{\"arenagrad_trace\":2}",
            "header: expected arenagrad_trace 1, got 2, at line 1"},
        Bad{"HeaderAlignment", "!{\"arenagrad_trace\":1,\"alignment\":48}",
            "alignment: expected a power of two, got 48, at line 1"},
        Bad{"NotJson", "{\"op\":\"free\",\"id\":1",
            "expected a JSON object, got something else at column 20, at line 2"},
        Bad{"NotUtf8", "{\"op\":\"\xff\"}",
            "expected a JSON object, got something else at column 8, at line 2"},
        Bad{"NotAnObject", "[1]", "expected a JSON object, got an array, at line 2"},
        Bad{"Number", "12", "expected a JSON object, got 12, at line 2"},
        Bad{"TwoObjects", "{\"op\":\"scope\"}{}",
            "expected a JSON object, got something else at column 15, at line 2"},
        Bad{"UnknownKey", allocate("\"id\":1,\"byte\":1"),
            "expected known keys, got 'byte' (did you mean 'bytes'?), at line 2"},
        Bad{"TwiceTheKey", allocate("\"id\":1,\"id\":2"),
            "expected each key once, got 'id' twice, at line 2"},
        Bad{"Nested", allocate("\"id\":{\"bytes\":1}"),
            "id: expected a whole number from 0 on, got an object, at line 2"},
        Bad{"NegativeSize", allocate("\"id\":1,\"bytes\":-5"),
            "bytes: expected a whole number from 0 on, got -5, at line 2"},
        Bad{"Fraction", allocate("\"id\":1,\"bytes\":1.5"),
            "bytes: expected a whole number from 0 on, got 1.5, at line 2"},
        Bad{"Overflow", allocate("\"id\":1,\"bytes\":18446744073709551616"),
            "bytes: expected a whole number from 0 on, got 18446744073709551616, at line 2"},
        Bad{"Zero", allocate("\"id\":1,\"bytes\":0"),
            "allocation of buffer 1: expected 1 to 1152921504606846976 bytes, got 0, at line 2"},
        Bad{"TextForANumber", allocate("\"id\":\"1\""),
            "id: expected a whole number from 0 on, got text, at line 2"},
        Bad{"NumberForText", "{\"op\":1}", "op: expected text, got 1, at line 2"},
        Bad{"NoOp", "{\"id\":1}", "expected the key 'op', got none, at line 2"},
        Bad{"UnknownOp", "{\"op\":\"malloc\"}",
            "op: expected allocate, free, refuse, reserve, release, commit, decommit, map, unmap "
            "or scope, got 'malloc', at line 2"},
        Bad{"KeyMissing", allocate("\"id\":1"),
            "allocate: expected the key 'bytes', got none, at line 2"},
        Bad{"KeyTooMany", "{\"op\":\"free\",\"id\":1,\"bytes\":1}",
            "free: expected no key 'bytes', got one, at line 2"},
        Bad{"Category", allocate("\"id\":1,\"bytes\":1,\"category\":\"activations\""),
            "category: expected one of our ten, got 'activations' (did you mean 'activation'?), at "
            "line 2"},
        Bad{"Granted", allocate("\"id\":1,\"bytes\":10,\"granted\":9"),
            "allocation of buffer 1: expected at least 10 bytes granted, got 9, at line 2"},
        Bad{"Alignment", allocate("\"id\":1,\"bytes\":10,\"alignment\":3"),
            "alignment: expected a power of two, got 3, at line 2"},
        Bad{"FreeOfUnknown", allocate("\"id\":1,\"bytes\":1") + "{\"op\":\"free\",\"id\":2}",
            "free of buffer 2: expected a live one, got one that was never allocated or is freed "
            "already, at line 3"},
        Bad{"FreedTwice",
            allocate("\"id\":1,\"bytes\":1") +
                "{\"op\":\"free\",\"id\":1}\n{\"op\":\"free\",\"id\":1}",
            "free of buffer 1: expected a live one, got one that was never allocated or is freed "
            "already, at line 4"},
        Bad{"AllocatedTwice", allocate("\"id\":1,\"bytes\":1") + allocate("\"id\":1,\"bytes\":1"),
            "allocation of buffer 1: expected one that is not live, got one that was not freed, at "
            "line 3"},
        Bad{"Overlap",
            allocate("\"id\":1,\"bytes\":10,\"granted\":64,\"offset\":0") +
                allocate("\"id\":2,\"bytes\":1,\"offset\":63"),
            "allocation of buffer 2: expected free memory, got [63, 64), of which live buffers "
            "hold "
            "some, at line 3"},
        Bad{"TimeFalls", "{\"op\":\"scope\",\"time\":5}\n{\"op\":\"scope\",\"time\":4}",
            "time: expected at least 5, got 4, at line 3"},
        Bad{"CommittedTwice",
            "{\"op\":\"commit\",\"offset\":0,\"bytes\":8}\n{\"op\":\"commit\",\"offset\":7,"
            "\"bytes\":8}",
            "commit: expected a range without memory, got [7, 15), at line 3"},
        Bad{"DecommitOfNothing", "{\"op\":\"decommit\",\"offset\":0,\"bytes\":8}",
            "decommit: expected a range with memory, got [0, 8), at line 2"},
        Bad{"SumOverflows",
            allocate("\"id\":1,\"bytes\":1152921504606846976") + allocate("\"id\":2,\"bytes\":1"),
            "live bytes: expected at most 1152921504606846976, got more, at line 3"}),
    [](const auto& info) { return info.param.name; });

TEST(JsonLines, LongLinesAreRefusedBeforeTheyAreKept) {
  std::size_t read = 0;
  const auto endless = [&](char* into, std::size_t most) {
    std::fill_n(into, most, ' ');
    read += most;
    return most;
  };
  ByteSource source(endless, "endless");
  TraceLog trace;
  EXPECT_THROW(read_jsonl(source, trace, {}), TraceError);
  EXPECT_LT(read, 4 * ByteSource::kLongestLine);
}

TEST(JsonLines, DeepNestingIsNoRecursion) {
  EXPECT_EQ(error_of("jsonl", std::string(1000000, '[')),
            "expected a JSON object, got an array, at line 1 of file");
}

}  // namespace
}  // namespace arenagrad::testing
