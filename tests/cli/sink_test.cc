#include "cli/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/experiments/temporary.h"

namespace arenagrad::cli {
namespace {

using test::message_of;
using test::read_file;
using test::TemporaryFolder;

TEST(WriteFile, ReplacesInOneGoAndLeavesNothingBehind) {
  TemporaryFolder folder;
  const auto file = folder.path("out.json");
  write_file(file, "one");
  ::chmod(file.c_str(), 0640);
  write_file(file, "two");
  EXPECT_EQ(read_file(file), "two");
  struct stat found {};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
  const std::filesystem::directory_iterator all(folder.path("")), end;
  EXPECT_EQ(std::distance(all, end), 1);
}

TEST(WriteFile, FollowsALink) {
  TemporaryFolder folder;
  const auto file = folder.write("real", "old"), link = folder.path("link");
  std::filesystem::create_symlink(file, link);
  write_file(link, "new");
  EXPECT_EQ(read_file(file), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(WriteFile, SaysWhyItFailed) {
  TemporaryFolder folder;
  const auto missing = folder.path("no/such/folder");
  EXPECT_EQ(message_of([&] { write_file(missing, "x"); }),
            "cannot write " + missing + ": No such file or directory");
  EXPECT_EQ(message_of([&] { write_file("/tmp", "x"); }), "cannot write /tmp: Is a directory");
  EXPECT_EQ(message_of([&] { write_file("/dev/full", "x"); }),
            "cannot write /dev/full: No space left on device");
}

TEST(FileSink, AFullDiskIsAnErrorAndAClosedPipeIsSilent) {
  const int full = ::open("/dev/full", O_WRONLY);
  FileSink to_full(full, "standard output");
  EXPECT_EQ(message_of([&] { to_full.write("x"); }),
            "cannot write standard output: No space left on device");
  ::close(full);

  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  FileSink to_pipe(ends[1], "standard output");
  EXPECT_NO_THROW(to_pipe.write("x"));
  EXPECT_NO_THROW(to_pipe.write("y"));
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace arenagrad::cli
