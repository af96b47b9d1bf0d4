// The built program as a process: pipes, full disks, signals, stdin, the exit status.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::contains;
using test::read_file;
using test::TemporaryFolder;

struct Process {
  int code = 0;
  std::string out, err;
};

/// Runs a line of bash in which $A is the program.
Process bash(const std::string& line) {
  TemporaryFolder folder;
  const auto script = folder.write("script", "A=" ARENAGRAD_PROGRAM "\n" + line + "\n");
  const auto command = "bash " + script + " >" + folder.path("out") + " 2>" + folder.path("err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder.path("out")),
          read_file(folder.path("err"))};
}

TEST(Process, AClosedPipeIsSilent) {
  const auto result = bash("$A plan lenet5 | true; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, "0\n");
}

TEST(Process, AFullDiskIsAnError) {
  const auto result = bash("$A plan lenet5 >/dev/full");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "error: cannot write standard output: No space left on device\n");
}

TEST(Process, AMissingStdoutIsAnError) { EXPECT_EQ(bash("$A plan lenet5 >&-").code, 2); }

TEST(Process, SpecsComeFromStdinToo) {
  const auto result = bash("$A plan - --format json <" + test::zoo("lenet5"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["spec"]["path"], "-");
}

TEST(Process, TracesPassThroughAPipe) {
  const auto result = bash(
      "printf 'id,lower,upper,size\\n1,0,3,40\\n' | $A trace convert - - --to jsonl --quiet | "
      "$A trace convert - - --to minimalloc --quiet");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "id,lower,upper,size\n1,0,3,40\n");
}

TEST(Process, AnInterruptEndsARunWith130AndLeavesNoHalfFile) {
  TemporaryFolder folder;
  const auto file = folder.write("out.json", "old");
  const auto result = bash("$A run lenet5 --batch 64 --steps 100000000 --json " + file +
                           " & pid=$!; sleep 0.5; kill -INT $pid; wait $pid");
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.err, "error: interrupted\n");
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(file), "old");
}

TEST(Process, AnInterruptEndsALongDryRunToo) {
  const auto result = bash(
      "$A plan resnet152 --batch 1000000000 --mode per-step --strategy bump"
      " & pid=$!; sleep 0.5; kill -INT $pid; wait $pid");
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.out, "");
}

TEST(Process, WithoutGnuplotAPictureSaysWhatIsMissing) {
  const auto result = bash("PATH=/nowhere $A sweep lenet5 --batches 1:4 --plot picture.svg");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");  // said before the work
  EXPECT_TRUE(contains(result.err, "install gnuplot-nox")) << result.err;
}

TEST(Process, NoColourWithoutATerminal) {
  EXPECT_FALSE(contains(bash("$A plan lenet5").out, "\033"));
}

TEST(Process, UsageErrorsExitWithTwo) {
  EXPECT_EQ(bash("$A plan lenet5 --nonsense").code, 2);
  EXPECT_EQ(bash("$A").code, 2);
  EXPECT_EQ(bash("$A --version").code, 0);
}

}  // namespace
}  // namespace arenagrad
