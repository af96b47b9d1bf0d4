// The verb allocators.
#include <gtest/gtest.h>

#include "allocator/fnv1a.h"
#include "allocator/strategy.h"
#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;
using test::lines;
using test::TemporaryFolder;

constexpr const char* kSmall = "id,lower,upper,size\n1,0,3,40\n2,1,4,50\n3,3,5,70\n";

std::string problem(const std::string& file) {
  return std::string(ARENAGRAD_SOURCE_DIR) + "/tests/data/" + file;
}

TEST(Allocators, ARowForEveryStrategyAndASentence) {
  const auto result = arenagrad({"allocators", "lenet5_digits", "--batch", "4"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const StrategyInfo& strategy : strategies())
    EXPECT_TRUE(contains(result.out, "\n  " + std::string(strategy.name) + " ")) << strategy.name;
  EXPECT_TRUE(contains(result.out, "what the columns say"));
  const auto answer = lines(result.out).back();
  EXPECT_TRUE(answer.starts_with("lenet5_digits, batch 4, full-batch: online, ")) << answer;
  EXPECT_TRUE(answer.ends_with(".")) << answer;
}

TEST(Allocators, TheJsonOfAModelHasTheHeaderAndSettings) {
  const auto json = arenagrad({"allocators", "lenet5_digits", "--batch", "4", "--micro-batch", "2",
                               "--mode", "per-step", "--seed", "7", "--format", "json"})
                        .json();
  EXPECT_EQ(json["schema"], "arenagrad.allocators/1");
  EXPECT_TRUE(json["version"].is_string());
  EXPECT_EQ(json["argv"][1], "allocators");
  EXPECT_EQ(json["spec"]["path"], "lenet5_digits");
  EXPECT_EQ(json["spec"]["hash"],
            arenagrad({"plan", "lenet5_digits", "--json", "-"}).json()["spec"]["hash"]);
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["backend"], "none");
  EXPECT_EQ(json["name"], "lenet5_digits");
  EXPECT_EQ(json["mode"], "per-step");
  EXPECT_EQ(json["batch"], 4);
  EXPECT_EQ(json["micro_batch"], 2);
  EXPECT_FALSE(json.contains("strategy"));
  EXPECT_TRUE(json["answer"].is_string());
  for (const char* key : {"name", "buffers", "events", "alignment", "lower_bound", "aligned_bound"})
    EXPECT_TRUE(json["trace"].contains(key)) << key;
  ASSERT_EQ(json["rows"].size(), strategies().size());
  for (const auto& row : json["rows"]) {
    const auto strategy = row["strategy"].get<std::string>();
    for (const char* key :
         {"peak_requested", "peak_active", "footprint", "reserved", "internal_waste",
          "external_waste", "smallest_device", "driver_calls", "first_step_footprint"})
      EXPECT_TRUE(row[key].is_number_unsigned()) << strategy << " " << key;
    for (const char* key : {"ns_per_allocate", "ns_per_free"})
      EXPECT_GE(row[key]["p99"], row[key]["median"]) << strategy;
    EXPECT_TRUE(row["fits_capacity"].is_null());
    EXPECT_EQ(row["truncated"], false);
    EXPECT_EQ(row["plan_seconds"].is_null(), !row["offline"].get<bool>());
    EXPECT_EQ(row["proof"].is_null(), !row["offline"].get<bool>());
    EXPECT_GE(row["footprint"], json["trace"]["aligned_bound"]) << strategy;
  }
}

TEST(Allocators, TheJsonOfATraceNamesItsFile) {
  TemporaryFolder folder;
  const auto file = folder.write("t.csv", kSmall);
  const auto result = arenagrad({"allocators", "--trace", file, "--json", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  Fnv1a hash;
  hash.add(kSmall);
  EXPECT_EQ(json["spec"]["path"], file);
  EXPECT_EQ(json["spec"]["hash"], hash.text());
  EXPECT_EQ(json["seed"], 0);
  EXPECT_EQ(json["backend"], "none");
  EXPECT_EQ(json["name"], file);
  EXPECT_EQ(json["trace"]["buffers"], 3);
  EXPECT_EQ(json["trace"]["lower_bound"], 120);
  EXPECT_TRUE(json["rows"][0]["first_step_footprint"].is_null());
  EXPECT_TRUE(contains(result.err, "note: lifetimes are half-open"));
}

TEST(Allocators, ARecordedTraceGivesTheModelsFootprints) {
  TemporaryFolder folder;
  const auto file = folder.path("t.jsonl");
  ASSERT_EQ(arenagrad({"plan", "lenet5_digits", "--batch", "4", "--trace", file}).code, 0);
  const auto direct =
      arenagrad({"allocators", "lenet5_digits", "--batch", "4", "--steps", "1", "--json", "-"});
  const auto recorded = arenagrad({"allocators", "--trace", file, "--json", "-"});
  const auto a = direct.json()["rows"], b = recorded.json()["rows"];
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (const char* key : {"strategy", "footprint", "reserved", "smallest_device"})
      EXPECT_EQ(a[i][key], b[i][key]) << a[i]["strategy"] << " " << key;
}

TEST(Allocators, OnlyPicksRowsInItsOrder) {
  TemporaryFolder folder;
  const auto file = folder.write("t.csv", kSmall);
  const auto rows =
      arenagrad({"allocators", "--trace", file, "--only", "exact,best-fit", "--json", "-"})
          .json()["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["strategy"], "plan:exact");
  EXPECT_EQ(rows[0]["proof"], "optimal");
  EXPECT_EQ(rows[0]["gap"], 0);
  EXPECT_EQ(rows[1]["strategy"], "best-fit");
}

TEST(Allocators, ABudgetThatRunsOutIsSaid) {
  const std::vector<std::string> call = {
      "allocators", "--trace", problem("minimalloc/D.1048576.csv"), "--only", "plan:exact",
      "--budget",   "0.02"};
  auto with_json = call;
  with_json.insert(with_json.end(), {"--json", "-"});
  const auto row = arenagrad(with_json).json()["rows"][0];
  EXPECT_EQ(row["truncated"], true);
  EXPECT_EQ(row["proof"], "gap");
  EXPECT_GT(row["gap"], 0);
  EXPECT_LT(row["plan_seconds"], 5);
  const auto table = arenagrad(call, {.terminal = true});
  EXPECT_TRUE(contains(table.out, " %, truncated"));
  EXPECT_TRUE(contains(table.err, "plan:exact: planning"));
}

TEST(Allocators, ACapacityIsAnswered) {
  TemporaryFolder folder;
  const auto file = folder.write("t.csv", kSmall);
  const auto answer = [&](const char* capacity) {
    return lines(arenagrad({"allocators", "--trace", file, "--only", "bump,plan:exact",
                            "--capacity", capacity})
                     .out)
        .back();
  };
  EXPECT_TRUE(answer("160").ends_with(" A capacity of 160 B suffices for bump, plan:exact."));
  EXPECT_TRUE(answer("159").ends_with(" A capacity of 159 B suffices for plan:exact."));
  EXPECT_TRUE(answer("119").ends_with(" A capacity of 119 B suffices for none."));
}

TEST(Allocators, UsageErrors) {
  TemporaryFolder folder;
  const auto file = folder.write("t.csv", kSmall);
  const auto refused = [](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), "allocators");
    const auto result = arenagrad(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(contains(result.err, words)) << result.err;
  };
  refused({}, "SPEC: expected a model, or --trace FILE, got neither");
  refused({"lenet5", "--trace", file}, "--trace: expected it alone, got SPEC 'lenet5' too");
  refused({"--trace", file, "--only", "best-fat"}, "did you mean best-fit?");
  refused({"--trace", file, "--only", "tlsf,tlsf"}, "--only: expected each strategy once");
  refused({"--trace", file, "--budget", "-1"}, "--budget: expected a number of at least 0");
  refused({"--trace", "/no/such/file"}, "cannot read /no/such/file: No such file or directory");
  refused({"--trace", folder.write("e.csv", "id,lower,upper,size\n")}, "expected allocations");
  refused({"no-such-model"}, "no-such-model");
  refused({"lenet5", "--strategy", "tlsf"}, "unknown flag '--strategy'");
  for (const char* flag : {"--batch", "--seed", "--steps"})
    refused({"--trace", file, flag, "4"}, std::string(flag) + ": expected a SPEC");
  refused({"--trace", file, "--device", "h200"}, "--device: expected a SPEC");
  refused({"lenet5", "--only", "nonsense"}, "plan:search, plan:exact; got \"nonsense\"");
}

TEST(Allocators, CanBeInterrupted) {
  const std::atomic<bool> interrupted{true};
  const auto result = arenagrad({"allocators", "lenet5_digits"}, {.interrupted = &interrupted});
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.out, "");
}

TEST(Allocators, ARunOfTooManyEventsIsRefused) {
  const auto result =
      arenagrad({"allocators", "lenet5_digits", "--batch", "1000000", "--mode", "per-step"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "allocations and frees")) << result.err;
}

}  // namespace
}  // namespace arenagrad
