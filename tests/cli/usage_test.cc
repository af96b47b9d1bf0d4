// What the command line accepts and how it refuses.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;

struct BadUsage {
  const char* what;
  std::vector<std::string> arguments;
  std::string message;  // in stderr
};

class BadUsages : public testing::TestWithParam<BadUsage> {};

TEST_P(BadUsages, ExitWithTwoAndSayWhatIsExpected) {
  const auto result = arenagrad(GetParam().arguments);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("error: ")) << result.err;
  EXPECT_TRUE(contains(result.err, GetParam().message)) << result.err;
}

std::vector<std::string> plan(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"plan", "lenet5"});
  return flags;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadUsages,
    testing::Values(
        BadUsage{"verb",
                 {"pln", "lenet5"},
                 "verb: expected one of models, devices, summary, plan, run, compare, sweep, "
                 "fit, allocators, trace, report, got 'pln' (did you mean "
                 "'plan'?)"},
        BadUsage{"argument", plan({"vgg11"}), "expected nothing more, got 'vgg11'"},
        BadUsage{"no_spec", {"plan"}, "SPEC"},
        BadUsage{"flag", plan({"--bacth", "3"}),
                 "unknown flag '--bacth' (did you mean '--batch'?)"},
        BadUsage{"batch", plan({"--batch", "many"}),
                 "--batch: expected a whole number of at least 1, got 'many'"},
        BadUsage{"batch_zero", plan({"--batch", "0"}), "at least 1, got '0'"},
        BadUsage{"batch_huge", plan({"--batch", "99999999999999999999"}),
                 "--batch: expected a whole number of at most 9223372036854775807, got "
                 "'99999999999999999999'"},
        BadUsage{"micro", plan({"--batch", "4", "--micro-batch", "5"}),
                 "--micro-batch: expected at most the batch, 4, got 5"},
        BadUsage{"mode", plan({"--mode", "fast"}),
                 "--mode: expected one of full-batch, accumulated-graph, per-step, two-pass, got "
                 "'fast'"},
        BadUsage{"policy", plan({"--policy", "tf"}),
                 "--policy: expected one of lean, pytorch, got 'tf'"},
        BadUsage{"strategy", plan({"--strategy", "best-fitt"}), "best-fit"},
        BadUsage{"capacity_beyond", plan({"--capacity", "1025PiB"}),
                 "--capacity: expected a size of at most 1024 PiB, got '1025PiB'"},
        BadUsage{
            "batch_beyond_64_bits", plan({"--batch", "9223372036854775807"}),
            "a batch of 9223372036854775807 samples: product of sizes: expected at most 2^63 - "
            "1, got"},
        BadUsage{"capacity_beyond_64_bits", plan({"--capacity", "99999999999GiB"}),
                 "--capacity: expected a size of at most 1024 PiB, got '99999999999GiB'"},
        BadUsage{"memory_beyond",
                 {"fit", "lenet5", "--memory", "8EiB"},
                 "--memory: expected a size of at most 1024 PiB, got '8EiB'"},
        BadUsage{"recompute_every", plan({"--recompute", "every:0"}),
                 "--recompute every:K: expected a whole number of at least 1, got '0'"},
        BadUsage{"recompute_no_grad", plan({"--recompute", "sqrt", "--no-grad"}),
                 "--recompute: expected gradients to recompute for, got --no-grad"},
        BadUsage{"summary_capacity",
                 {"summary", "lenet5", "--capacity", "1KiB"},
                 "unknown flag '--capacity'"},
        BadUsage{"threads", plan({"--threads", "100000"}),
                 "--threads: expected a whole number from 0 to 1024, got '100000'"},
        BadUsage{"capacity", plan({"--capacity", "6 parsec"}),
                 "--capacity: expected a size such as 6GiB, 6GB or 1048576, got '6 parsec'"},
        BadUsage{"optimizer", plan({"--optimizer", "lbfgs"}),
                 "--optimizer: expected one of none, sgd, adam, adamw, got 'lbfgs'"},
        BadUsage{"lr", plan({"--optimizer", "sgd", "--lr", "nan"}),
                 "--lr: expected a number of at least 0, got 'nan'"},
        BadUsage{"lr_alone", plan({"--lr", "0.1"}),
                 "--lr: expected an --optimizer that updates, got --optimizer none"},
        BadUsage{"momentum", plan({"--optimizer", "adam", "--momentum", "0.9"}),
                 "--momentum: expected --optimizer sgd, got --optimizer adam"},
        BadUsage{"nesterov", plan({"--optimizer", "sgd", "--nesterov"}),
                 "--nesterov: expected a --momentum above 0"},
        BadUsage{"no_grad", plan({"--no-grad", "--optimizer", "sgd"}),
                 "--no-grad: expected --optimizer none, got sgd"},
        BadUsage{"input", plan({"--input", "3x224x"}),
                 "--input: expected channels x height x width, such as 3x224x224, got '3x224x'"},
        BadUsage{"dtype", plan({"--dtype", "bf16"}),
                 "--dtype: expected one of f32, f64, got 'bf16'"},
        BadUsage{"seed", plan({"--seed", "-1"}), "--seed: expected a whole number"},
        BadUsage{"steps", plan({"--steps", "0"}), "--steps: expected a whole number of at least 1"},
        BadUsage{"top", plan({"--top", "-1"}), "--top: expected a whole number of at least 0"},
        BadUsage{"format", plan({"--format", "xml"}),
                 "--format: expected one of table, md, csv, json, got 'xml'"},
        BadUsage{"twice", plan({"--batch", "3", "--batch", "4"}), "--batch"},
        BadUsage{"data_alone", plan({"--data", "images"}), "--data: expected --labels as well"},
        BadUsage{"labels_alone", plan({"--labels", "l"}), "--labels: expected --data as well"},
        BadUsage{"reference",
                 {"compare", "lenet5", "--reference", "f16"},
                 "--reference: expected one of auto, f64, none, got 'f16'"},
        BadUsage{"modes", {"compare", "lenet5", "--mode", "per-step,per-step"}, "each mode once"},
        BadUsage{"one_mode", {"compare", "lenet5", "--mode", "per-step"}, "at least two modes"},
        BadUsage{"compare_no_grad",
                 {"compare", "lenet5", "--no-grad"},
                 "expected a run with gradients, got no-grad"},
        BadUsage{"no_such_spec", {"plan", "/nowhere/net.json"}, "/nowhere/net.json"},
        BadUsage{"no_such_data",
                 {"run", "lenet5", "--data", "/nowhere/i", "--labels", "/nowhere/l"},
                 "/nowhere/i: cannot read: No such file or directory"},
        BadUsage{"json_folder", plan({"--json", "/nowhere/out.json"}),
                 "--json: cannot write /nowhere/out.json: no such folder"},
        BadUsage{"json_is_a_folder", plan({"--json", "/tmp"}),
                 "--json: cannot write /tmp: it is a folder"},
        BadUsage{"plot_folder",
                 {"sweep", "lenet5", "--batches", "1", "--plot", "/nowhere/x.gp"},
                 "--plot: cannot write /nowhere/x.gp: no such folder"},
        BadUsage{"trace_folder", plan({"--trace", "/nowhere/x.jsonl"}),
                 "--trace: cannot write /nowhere/x.jsonl: no such folder"},
        BadUsage{"report_folder",
                 {"report", "run.json", "-o", "/nowhere/x.html"},
                 "-o: cannot write /nowhere/x.html: no such folder"},
        BadUsage{"json_full", plan({"--json", "/dev/full"}),
                 "cannot write /dev/full: No space left on device"}),
    [](const auto& info) { return info.param.what; });

/// The one written later would be all that is left.
TEST(Usage, TwoOutputsDoNotShareAFile) {
  const test::TemporaryFolder folder;
  const auto file = folder.path("x.gp"), other_words = folder.path("./x.gp");
  const auto trace = folder.path("x.json"), page = folder.write("x.html", "old");
  const std::vector<std::vector<std::string>> calls = {
      {"sweep", "lenet5", "--batches", "1", "--plot", file, "--json", other_words},
      {"plan", "lenet5", "--trace", trace, "--json", trace},
      {"plan", "lenet5", "--device", "h200", "--save-engines", trace, "--json", trace},
      {"report", "run.json", "-o", page, "--json", page},
      {"trace", "convert", "in.csv", trace, "--json", trace}};
  for (const auto& call : calls) {
    const auto result = arenagrad(call);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(contains(result.err, ": expected a file of its own, got ")) << result.err;
    EXPECT_FALSE(std::filesystem::exists(file) || std::filesystem::exists(trace));
  }
  EXPECT_EQ(test::read_file(page), "old");
  // Nothing is lost in these.
  EXPECT_EQ(arenagrad({"sweep", "lenet5", "--batches", "1", "--plot", file, "--json", trace}).code,
            0);
  const std::filesystem::path nothing = "/dev/null", link = folder.path("nothing.gp");
  std::filesystem::create_symlink(nothing, link);
  EXPECT_EQ(arenagrad({"sweep", "lenet5", "--batches", "1", "--plot", link.string(), "--json",
                       "/dev/null"})
                .code,
            0);
}

TEST(Usage, HelpTeachesOnStdout) {
  const auto top = arenagrad({"--help"});
  EXPECT_EQ(top.code, 0);
  EXPECT_EQ(top.err, "");
  for (const char* verb : {"models", "summary", "plan", "run", "compare"}) {
    EXPECT_TRUE(contains(top.out, verb));
    const auto help = arenagrad({verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(contains(help.out, "Examples:\n  arenagrad " + std::string(verb))) << help.out;
    EXPECT_TRUE(contains(help.out, "Exit codes:"));
  }
  EXPECT_TRUE(contains(arenagrad({"plan", "--help"}).out, "plan:greedy-size"));
  EXPECT_TRUE(contains(arenagrad({"sweep", "--help"}).out, "below it are one micro-batch"));
}

TEST(Usage, WithoutAVerbItHelpsAndFails) {
  const auto result = arenagrad({});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(result.err, "Usage:"));
}

TEST(Usage, VersionNamesCompilerAndLibraries) {
  const auto result = arenagrad({"--version"});
  EXPECT_EQ(result.code, 0);
  for (const char* word : {"arenagrad 0.", "gcc", "Eigen", "OpenBLAS", "OpenMP", "fmt"})
    EXPECT_TRUE(contains(result.out, word)) << word;
}

TEST(Usage, UnitsOfCapacityDiffer) {
  EXPECT_EQ(
      arenagrad({"plan", "lenet5", "--capacity", "6GB", "--format", "json"}).json()["capacity"],
      6'000'000'000u);
  EXPECT_EQ(
      arenagrad({"plan", "lenet5", "--capacity", "6GiB", "--format", "json"}).json()["capacity"],
      std::size_t{6} << 30);
}

}  // namespace
}  // namespace arenagrad
