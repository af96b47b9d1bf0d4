#include <gtest/gtest.h>

#include "allocator/traces/interval_set.h"
#include "allocator/traces/lives.h"
#include "tests/allocator/traces/python.h"
#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

std::string sniffed(std::string_view text) {
  ByteSource source(reading_text(text), "file");
  return std::string(sniff_trace_format(source).name);
}

TEST(TraceFormats, AreKnownByWhatTheyBeginWith) {
  EXPECT_EQ(sniffed("{\"arenagrad_trace\":1}"), "jsonl");
  EXPECT_EQ(sniffed("id,lower,upper,size\n"), "minimalloc");
  EXPECT_EQ(sniffed("buffer,start,end,size\r\n1"), "minimalloc");
  EXPECT_EQ(sniffed("Thread,Action,Pointer,Size,Stream\n"), "rmm");
  EXPECT_EQ(sniffed("\x80\x04}."), "pytorch");
  EXPECT_THROW(sniffed(""), TraceError);
  EXPECT_THROW(sniffed("{\"traceEvents\":[]}"), TraceError);
  EXPECT_THROW(sniffed("hello\n"), TraceError);
}

TEST(TraceFormats, AreKnownByTheirExtension) {
  const auto of = [](std::string_view path) {
    const auto* format = trace_format_of(path);
    return format ? format->name : "none";
  };
  EXPECT_EQ(of("a/b.jsonl"), "jsonl");
  EXPECT_EQ(of("b.csv"), "minimalloc");
  EXPECT_EQ(of("b.rmm.csv"), "rmm");
  EXPECT_EQ(of("b.pickle"), "pytorch");
  EXPECT_EQ(of("b.pkl"), "pytorch");
  EXPECT_EQ(of("b.json"), "perfetto");
  EXPECT_EQ(of("b.txt"), "none");
  EXPECT_EQ(of("-"), "none");
}

TEST(TraceFormats, AWrongNameGetsTheList) {
  try {
    find_trace_format("perfeto");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "trace format: expected one of jsonl, minimalloc, rmm, pytorch, perfetto; got "
                 "'perfeto' (did you mean 'perfetto'?)");
  }
}

TEST(TraceFormats, EveryReaderSurvivesEveryPrefix) {
  const auto trace = read_as("jsonl", small_trace());
  for (const TraceFormat& format : trace_formats()) {
    if (format.read == nullptr) continue;
    const std::string text = write_as(format.name, trace);
    for (std::size_t size = 0; size < text.size(); ++size) {
      // Cut between two lines a text is whole; a pickle never is.
      const auto error = error_of(format.name, std::string_view(text).substr(0, size));
      EXPECT_TRUE(format.name != "pytorch" || !error.empty()) << size;
    }
  }
}

TEST(TraceFormats, FilesAndDirectories) {
  const Scratch scratch;
  EXPECT_EQ(load_trace(scratch.write("a", small_trace())).events().size(), 17u);
  EXPECT_THROW(load_trace(scratch.path("missing")), TraceError);
  EXPECT_THROW(load_trace(scratch.path("")), TraceError);
}

TEST(Lives, AreHalfOpenByPosition) {
  const auto lives = lifetimes(read_as("jsonl", small_trace()));
  ASSERT_EQ(lives.size(), 5u);
  const auto expect = [&](std::size_t at, std::size_t bytes, std::uint32_t begin,
                          std::uint32_t end) {
    EXPECT_EQ(index(lives[at].id), at);
    EXPECT_EQ(lives[at].bytes, bytes);
    EXPECT_EQ(lives[at].alignment, 64u);
    EXPECT_EQ(lives[at].begin, begin);
    EXPECT_EQ(lives[at].end, end);
  };
  expect(0, 100, 0, 8);
  expect(1, 4000, 1, 6);
  expect(2, 64, 2, 3);
  expect(3, 2097152, 4, 5);
  expect(4, 50, 7, 8);
}

TEST(IntervalSet, JoinsAndCuts) {
  IntervalSet set;
  EXPECT_TRUE(set.add(10, 20));
  EXPECT_TRUE(set.add(30, 40));
  EXPECT_FALSE(set.add(15, 16));
  EXPECT_FALSE(set.add(19, 25));
  EXPECT_FALSE(set.add(5, 11));
  EXPECT_FALSE(set.add(5, 50));
  EXPECT_TRUE(set.add(20, 30));
  EXPECT_EQ(set.intervals(), (std::map<std::size_t, std::size_t>{{10, 40}}));
  EXPECT_TRUE(set.covers(10, 40));
  EXPECT_FALSE(set.covers(9, 11));
  EXPECT_FALSE(set.covers(39, 41));
  EXPECT_FALSE(set.remove(35, 41));
  EXPECT_TRUE(set.remove(15, 20));
  EXPECT_EQ(set.intervals(), (std::map<std::size_t, std::size_t>{{10, 15}, {20, 40}}));
  EXPECT_FALSE(set.remove(14, 21));
}

TEST(ByteSource, CrossesItsBuffer) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += std::to_string(i) + "\n";
  ByteSource source(reading_text(text), "file");
  std::string_view line;
  for (int i = 0; i < 30000; ++i) {
    ASSERT_TRUE(source.line(line));
    ASSERT_EQ(line, std::to_string(i));
  }
  EXPECT_FALSE(source.line(line));
  EXPECT_EQ(source.position(), text.size());
  EXPECT_EQ(source.line_number(), 30000u);
}

}  // namespace
}  // namespace arenagrad::testing
