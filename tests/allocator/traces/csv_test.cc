#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "allocator/traces/lives.h"
#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

using Kind = TraceEvent::Kind;

std::string file(const std::string& path) {
  std::ifstream in(std::string(ARENAGRAD_SOURCE_DIR) + "/tests/data/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string order(const TraceLog& trace) {
  std::string text;
  for (const auto& event : trace.events()) {
    text += (event.kind == Kind::allocate ? "+" : "-") + std::to_string(event.id) + "@" +
            std::to_string(event.time) + " ";
  }
  return text;
}

TEST(MiniMalloc, EventsInOrderOfTimeFreesFirst) {
  const auto trace =
      read_as("minimalloc", "id,lower,upper,size\n5,0,3,4\n6,3,9,4\n7,3,4,2\n8,0,3,1\n");
  EXPECT_EQ(order(trace), "+5@0 +8@0 -5@3 -8@3 +6@3 +7@3 -7@4 -6@9 ");
  EXPECT_EQ(trace.header().alignment, 1u);
}

TEST(MiniMalloc, InclusiveEndsAndOtherNames) {
  const auto old = read_as("minimalloc", "buffer_id,start,end,size\n1,0,2,4\n2,3,8,4\n");
  const auto now = read_as("minimalloc", "size,id,lower,upper,class\n4,1,0,3,x\n4,2,3,9,y\n");
  expect_equal(old.events(), now.events());
}

TEST(MiniMalloc, TextIdsBecomeNames) {
  const auto trace = read_as("minimalloc", "id,lower,upper,size\n1,0,3,4\nb2,1,9,4\n");
  ASSERT_EQ(trace.events().size(), 4u);
  EXPECT_EQ(trace.events()[0].id, 0u);
  EXPECT_EQ(trace.events()[0].name, "1");
  EXPECT_EQ(trace.events()[1].id, 1u);
  EXPECT_EQ(trace.events()[1].name, "b2");
}

TEST(MiniMalloc, PublishedFilesComeBackByteForByte) {
  for (const char* path : {"minimalloc/A.1048576.csv", "idealloc/resnet50.csv"}) {
    const std::string text = file(path);
    ASSERT_FALSE(text.empty()) << path;
    const TraceLog trace = read_as("minimalloc", text);
    // Rows come back in order of birth; events are the same ones.
    const TraceLog again = read_as("minimalloc", write_as("minimalloc", trace));
    ASSERT_EQ(again.events().size(), trace.events().size());
    const auto lives = lifetimes(trace), lives_again = lifetimes(again);
    EXPECT_EQ(lower_bound(lives, false), lower_bound(lives_again, false));
    EXPECT_EQ(write_as("minimalloc", again), write_as("minimalloc", trace)) << path;
  }
}

TEST(MiniMalloc, LowerBoundIsThePublishedOne) {
  EXPECT_EQ(lower_bound(lifetimes(read_as("minimalloc", file("idealloc/resnet50.csv"))), false),
            1515472556u);
}

TEST(MiniMalloc, ColumnsAppearWhenTheySaySomething) {
  const std::string text = "id,lower,upper,size,alignment,offset\n1,0,3,4,8,0\n2,1,4,4,1,8\n";
  EXPECT_EQ(write_as("minimalloc", read_as("minimalloc", text)), text);
}

TEST(MiniMalloc, EventsWithoutTimesAreNumbered) {
  const auto trace = read_as("jsonl",
                             "{\"arenagrad_trace\":1,\"alignment\":64}\n"
                             "{\"op\":\"allocate\",\"id\":9,\"bytes\":5}\n"
                             "{\"op\":\"scope\",\"phase\":\"forward\"}\n"
                             "{\"op\":\"free\",\"id\":9}\n"
                             "{\"op\":\"allocate\",\"id\":9,\"bytes\":6}\n"
                             "{\"op\":\"allocate\",\"id\":3,\"bytes\":7}\n");
  // The second life of 9 needs a number of its own, so all of them get one.
  EXPECT_EQ(write_as("minimalloc", trace),
            "id,lower,upper,size,alignment\n0,0,1,5,64\n1,2,4,6,64\n2,3,4,7,64\n");
}

TEST(MiniMalloc, TimesThatWouldReorderEventsAreLeftOut) {
  const auto trace = read_as("jsonl",
                             "{\"arenagrad_trace\":1}\n"
                             "{\"op\":\"allocate\",\"id\":1,\"bytes\":5,\"time\":1}\n"
                             "{\"op\":\"allocate\",\"id\":2,\"bytes\":5,\"time\":4}\n"
                             "{\"op\":\"free\",\"id\":1,\"time\":4}\n");
  EXPECT_EQ(write_as("minimalloc", trace), "id,lower,upper,size\n1,0,2,5\n2,1,3,5\n");
}

TEST(MiniMalloc, ErrorsNameTheLine) {
  const auto error = [](const std::string& rows) {
    return error_of("minimalloc", "id,lower,upper,size,offset,gaps\n" + rows);
  };
  EXPECT_EQ(error_of("minimalloc", "id,lower,size\n"),
            "header: expected a column 'end', got none, at line 1 of file");
  EXPECT_EQ(error_of("minimalloc", "id,lower,upper,size,id\n"),
            "header: expected each column once, got 'id' twice, at line 1 of file");
  EXPECT_EQ(error("1,0,3,4,,\n2,0,3,4\n"), "row: expected 6 fields, got 4, at line 3 of file");
  EXPECT_EQ(error("1,0,3,-4,,\n"),
            "size: expected a whole number from 0 to 2^64 - 1, got '-4', at line 2 of file");
  EXPECT_EQ(error("1,0,3,0,,\n"),
            "size: expected 1 to 1152921504606846976 bytes, got 0, at line 2 of file");
  EXPECT_EQ(error("1,3,3,4,,\n"),
            "lifetime: expected an end after the beginning at 3, got 3, at line 2 of file");
  EXPECT_EQ(error("1,0,3,4,,1-2\n"),
            "gaps: expected none (they are not supported), got '1-2', at line 2 of file");
  EXPECT_EQ(error("1,0,9,4,,\n2,0,9,4,,\n\n1,5,6,4,,\n"),
            "allocation of buffer 1: expected one that is not live, got one that was not freed, at "
            "line 5 of file");
  EXPECT_EQ(error("1,0,9,4,0,\n2,0,9,4,3,\n"),
            "allocation of buffer 2: expected free memory, got [3, 7), of which live buffers hold "
            "some, at line 3 of file");
}

TEST(Rmm, ReadsItsOwnLog) {
  const auto trace = read_as("rmm",
                             "Thread,Time,Action,Pointer,Size,Stream\n"
                             "23,15:47:02.841961,allocate,0x10012400000,1048576,0\n"
                             "23,15:47:02.841970,allocate,(nil),0,0\n"
                             "23,15:47:02.841971,allocate failure,(nil),77,0x2\n"
                             "23,15:47:02.841972,free,(nil),0,0\n"
                             "24,15:47:02.841977,free,0x10012400000,1048576,0\n");
  ASSERT_EQ(trace.events().size(), 3u);
  EXPECT_EQ(trace.events()[0].offset, 0x10012400000u);
  EXPECT_EQ(trace.events()[0].bytes, 1048576u);
  EXPECT_EQ(trace.events()[1].kind, Kind::refuse);
  EXPECT_EQ(trace.events()[1].bytes, 77u);
  EXPECT_EQ(trace.events()[2].kind, Kind::free);
}

TEST(Rmm, WritesWhatItReads) {
  const auto trace = read_as("jsonl", small_trace());
  const std::string text = write_as("rmm", trace);
  EXPECT_TRUE(
      text.starts_with("Thread,Time,Action,Pointer,Size,Stream\n"
                       "0,00:00:00.000003,allocate,0x7f0000000000,100,0\n"))
      << text;
  const auto again = read_as("rmm", text);
  const auto kept = [](TraceEvent& event) {
    event = {.kind = event.kind, .bytes = event.kind == Kind::free ? 0 : event.bytes};
    return event.kind == Kind::allocate || event.kind == Kind::free || event.kind == Kind::refuse;
  };
  expect_equal(events_without(trace, kept), events_without(again, kept));
  // Addresses stay what they are, so that nothing moves the second time.
  const std::string clockless = write_as("jsonl", read_as("rmm", write_as("rmm", again)));
  EXPECT_EQ(clockless, write_as("jsonl", again));
}

TEST(Rmm, TracesWithoutOffsetsArePlaced) {
  const auto trace = read_as("minimalloc", file("minimalloc/A.1048576.csv"));
  const auto again = read_as("rmm", write_as("rmm", trace));  // refuses what overlaps
  EXPECT_EQ(lower_bound(lifetimes(again), false), lower_bound(lifetimes(trace), false));
}

TEST(Rmm, ErrorsNameTheLine) {
  const auto error = [](const std::string& rows) {
    return error_of("rmm", "Thread,Action,Pointer,Size,Stream\n" + rows);
  };
  EXPECT_EQ(error("0,allocate,0x10,5,0\n0,free,0x20,5,0\n"),
            "free: expected an address that is allocated, got '0x20', which is not, at line 3 of "
            "file");
  EXPECT_EQ(
      error("0,allocate,0x10,5,0\n0,allocate,0x10,5,0\n"),
      "allocate: expected an address that is free, got '0x10', which was not freed, at line 3 "
      "of file");
  EXPECT_EQ(
      error("0,allocate,0x10,5,0\n0,allocate,0x14,5,0\n"),
      "allocation of buffer 1: expected free memory, got [20, 25), of which live buffers hold "
      "some, at line 3 of file");
  EXPECT_EQ(error("0,allocate,0x10,5,0\n0,free,0x10,6,0\n"),
            "free: expected the size allocated, 5, got 6, at line 3 of file");
  EXPECT_EQ(error("0,malloc,0x10,5,0\n"),
            "Action: expected allocate, allocate failure or free, got 'malloc', at line 2 of file");
  EXPECT_EQ(error("0,allocate,0xzz,5,0\n"),
            "Pointer: expected a whole number from 0 to 2^64 - 1, got '0xzz', at line 2 of file");
  EXPECT_EQ(error("0,allocate,(nil),5,0\n"),
            "Pointer: expected an address, got '(nil)', at line 2 of file");
  EXPECT_EQ(error("0,allocate,0x10,-5,0\n"),
            "Size: expected a whole number from 0 to 2^64 - 1, got '-5', at line 2 of file");
}

}  // namespace
}  // namespace arenagrad::testing
