// The verb trace, and --trace of plan and run.
#include <gtest/gtest.h>

#include <filesystem>

#include "allocator/fnv1a.h"
#include "allocator/traces/formats.h"
#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;
using test::TemporaryFolder;

constexpr const char* kSmall = "id,lower,upper,size\n1,0,3,40\n2,1,4,50\n";

std::string hash_of(const std::string& bytes) {
  Fnv1a hash;
  hash.add(bytes);
  return hash.text();
}

TEST(TraceFlag, PlanAndRunRecordTheSame) {
  TemporaryFolder folder;
  const auto planned = folder.path("plan.jsonl"), ran = folder.path("run.jsonl");
  const auto plan = arenagrad({"plan", "lenet5_digits", "--batch", "4", "--trace", planned});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(contains(plan.err, "note: trace: ")) << plan.err;
  EXPECT_TRUE(contains(plan.err, " in " + planned)) << plan.err;
  ASSERT_EQ(arenagrad({"run", "lenet5_digits", "--batch", "4", "--trace", ran}).code, 0);
  EXPECT_EQ(test::read_file(planned), test::read_file(ran));
  const auto trace = load_trace(planned);
  EXPECT_EQ(trace.header().name, "lenet5_digits, batch 4, full-batch, best-fit");
  // It changes nothing else.
  EXPECT_EQ(plan.out, arenagrad({"plan", "lenet5_digits", "--batch", "4"}).out);
}

TEST(TraceFlag, TheExtensionIsTheFormat) {
  TemporaryFolder folder;
  for (const auto& format : trace_formats()) {
    const auto file = folder.path("trace" + std::string(format.extension));
    ASSERT_EQ(arenagrad({"plan", "lenet5_digits", "--quiet", "--trace", file}).code, 0);
    if (format.read) {
      ByteSource source(reading_file(file), file);
      EXPECT_EQ(sniff_trace_format(source).name, format.name);
    } else {
      EXPECT_TRUE(test::read_file(file).starts_with("{\"traceEvents\":["));
    }
  }
  const auto result = arenagrad({"plan", "lenet5_digits", "--trace", folder.path("trace.txt")});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: --trace: expected a file that ends in one of .jsonl, .csv, "
            ".rmm.csv, .pickle, .json, got '" +
                folder.path("trace.txt") + "'\n");
  EXPECT_EQ(arenagrad({"compare", "lenet5_digits", "--trace", "x.jsonl"}).code, 2);
}

TEST(TraceFlag, WhatDoesNotFitIsRecordedUpToThere) {
  TemporaryFolder folder;
  const auto file = folder.path("out.jsonl");
  for (const char* verb : {"plan", "run"}) {
    const auto result = arenagrad({verb, "lenet5_digits", "--capacity", "100KiB", "--trace", file});
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_TRUE(contains(test::read_file(file), "{\"op\":\"refuse\",")) << verb;
  }
}

TEST(TraceFlag, AFileThatCannotBeWrittenIsAnError) {
  const auto result =
      arenagrad({"plan", "lenet5_digits", "--trace", "/no/such/folder/trace.jsonl"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "cannot write /no/such/folder/trace.jsonl: ")) << result.err;
}

TEST(TraceConvert, WritesTheFileAndSaysWhatIsInIt) {
  TemporaryFolder folder;
  const auto in = folder.write("in.csv", kSmall), out = folder.path("out.jsonl");
  const auto result = arenagrad({"trace", "convert", in, out});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, in +
                                       " (minimalloc) has 2 allocations and 2 frees, at most 90 B "
                                       "live at once; written to " +
                                       out + " (jsonl).\n"))
      << result.out;
  EXPECT_EQ(test::read_file(out), R"({"arenagrad_trace":1}
{"op":"allocate","id":1,"bytes":40,"time":0}
{"op":"allocate","id":2,"bytes":50,"time":1}
{"op":"free","id":1,"time":3}
{"op":"free","id":2,"time":4}
)");
  const auto json =
      arenagrad({"trace", "convert", out, folder.path("b.csv"), "--json", "-"}).json();
  EXPECT_EQ(json["schema"], "arenagrad.trace/1");
  EXPECT_TRUE(json["version"].is_string());
  EXPECT_EQ(json["argv"][1], "trace");
  EXPECT_EQ(json["spec"]["path"], out);
  EXPECT_EQ(json["spec"]["hash"], hash_of(test::read_file(out)));
  EXPECT_EQ(json["seed"], 0);
  EXPECT_EQ(json["backend"], "none");
  EXPECT_EQ(json["name"], "");
  EXPECT_EQ(json["from"]["format"], "jsonl");
  EXPECT_EQ(json["to"]["format"], "minimalloc");
  EXPECT_EQ(json["trace"]["allocations"], 2);
  EXPECT_EQ(json["trace"]["lower_bound"], 90);
  EXPECT_EQ(test::read_file(folder.path("b.csv")), kSmall);
}

TEST(TraceConvert, WithoutOffsetsItIsAProblem) {
  TemporaryFolder folder;
  const auto in = folder.path("in.jsonl"), out = folder.path("out.jsonl");
  ASSERT_EQ(arenagrad({"plan", "lenet5_digits", "--trace", in}).code, 0);
  ASSERT_EQ(arenagrad({"trace", "convert", in, out, "--no-offsets"}).code, 0);
  const auto text = test::read_file(out);
  for (const char* word : {"offset", "granted", "reserve", "commit"})
    EXPECT_FALSE(contains(text, std::string("\"") + word + "\"")) << word;
  std::vector<TraceEvent> requests;
  const auto whole = load_trace(in), alone = load_trace(out);
  for (const auto& event : whole.events())
    if (event.kind == TraceEvent::Kind::allocate || event.kind == TraceEvent::Kind::free)
      requests.push_back(event);
  std::size_t at = 0;
  for (const auto& event : alone.events()) {
    if (event.kind == TraceEvent::Kind::scope) continue;
    ASSERT_LT(at, requests.size());
    EXPECT_EQ(event.kind, requests[at].kind);
    EXPECT_EQ(event.id, requests[at].id);
    EXPECT_EQ(event.bytes, requests[at].bytes);
    EXPECT_EQ(event.name, requests[at++].name);
  }
  EXPECT_EQ(at, requests.size());
}

// As script/zoo-traces writes them.
TEST(TraceConvert, ThePublishedProblemsAreWhatTheProgramWrites) {
  TemporaryFolder folder;
  const auto recorded = folder.path("trace.jsonl"), problem = folder.path("problem.csv");
  for (const std::string mode : {"full-batch", "accumulated-graph", "per-step"}) {
    ASSERT_EQ(arenagrad({"plan", "lenet5", "--batch", "64", "--micro-batch", "16", "--mode", mode,
                         "--trace", recorded})
                  .code,
              0);
    ASSERT_EQ(arenagrad({"trace", "convert", recorded, problem, "--no-offsets"}).code, 0);
    EXPECT_EQ(test::read_file(problem),
              test::read_file(ARENAGRAD_SOURCE_DIR "/bench/data/zoo/lenet5.64." + mode + ".csv"))
        << mode;
  }
}

TEST(TraceConvert, ToStdoutTheTraceIsAlone) {
  TemporaryFolder folder;
  const auto in = folder.write("in.csv", kSmall);
  const auto result = arenagrad({"trace", "convert", in, "-", "--to", "minimalloc"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, kSmall);
  EXPECT_TRUE(contains(result.err, "note: " + in + " (minimalloc) has 2 allocations"));
  EXPECT_EQ(arenagrad({"trace", "convert", in, "-"}).err,
            "error: OUT: expected --to with -, got none\n");
  EXPECT_EQ(arenagrad({"trace", "convert", in, "-", "--to", "rmm", "--json", "-"}).code, 2);
}

TEST(TraceConvert, FlagsOutrankNames) {
  TemporaryFolder folder;
  const auto in = folder.write("in.csv", kSmall), out = folder.path("out.csv");
  ASSERT_EQ(arenagrad({"trace", "convert", in, out, "--to", "rmm"}).code, 0);
  EXPECT_TRUE(test::read_file(out).starts_with("Thread,Time,Action,"));
  EXPECT_EQ(
      arenagrad({"trace", "convert", in, out, "--from", "jsonl"}).err,
      "error: expected a JSON object, got something else at column 1, at line 1 of " + in + "\n");
  EXPECT_EQ(arenagrad({"trace", "convert", in, out, "--from", "perfetto"}).err,
            "error: --from: expected a format that can be read, got perfetto\n");
  const auto wrong = arenagrad({"trace", "convert", in, out, "--to", "pytroch"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err,
                       "--to: trace format: expected one of jsonl, minimalloc, rmm, "
                       "pytorch, perfetto; got 'pytroch' (did you mean 'pytorch'?)"))
      << wrong.err;
}

TEST(TraceConvert, AFailureLeavesTheOldFile) {
  TemporaryFolder folder;
  const auto in = folder.write("in.csv", "id,lower,upper,size\n1,0,3,-4\n");
  const auto out = folder.write("out.jsonl", "old");
  const auto result = arenagrad({"trace", "convert", in, out});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: size: expected a whole number from 0 to 2^64 - 1, got '-4', at line "
            "2 of " +
                in + "\n");
  EXPECT_EQ(test::read_file(out), "old");
  const std::filesystem::directory_iterator all(folder.path("")), end;
  EXPECT_EQ(std::distance(all, end), 2);
}

TEST(TraceConvert, UsageErrors) {
  EXPECT_EQ(arenagrad({"trace", "show", "a", "b"}).err,
            "error: ACTION: expected convert, got 'show'\n");
  EXPECT_EQ(arenagrad({"trace", "convert", "a"}).code, 2);
  EXPECT_EQ(arenagrad({"trace", "convert", "/no/such/file", "b.csv"}).err,
            "error: cannot read /no/such/file: No such file or directory\n");
  TemporaryFolder folder;
  EXPECT_EQ(arenagrad({"trace", "convert", folder.path(""), "b.csv"}).code, 2);
  EXPECT_EQ(arenagrad({"trace", "convert", folder.write("in.csv", kSmall), "b"}).code, 2);
  EXPECT_EQ(arenagrad({"trace", "--help"}).code, 0);
}

TEST(TraceConvert, CanBeInterrupted) {
  TemporaryFolder folder;
  std::string rows = "id,lower,upper,size\n";
  for (int i = 0; i < 40000; ++i)
    rows += std::to_string(i) + "," + std::to_string(i) + "," + std::to_string(i + 1) + ",8\n";
  const auto in = folder.write("in.csv", rows), out = folder.path("out.jsonl");
  const std::atomic<bool> interrupted{true};
  EXPECT_EQ(arenagrad({"trace", "convert", in, out}, {.interrupted = &interrupted}).code, 130);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace arenagrad
