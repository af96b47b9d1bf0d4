#include "experiments/host_memory.h"

#include <gtest/gtest.h>

#include "allocator/request.h"
#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

using test::TemporaryFolder;

TEST(HostMemory, TakesWhatTheSystemSays) {
  TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:  4000 kB\nMemFree:  10 kB\nMemAvailable:  2000 kB\n");
  EXPECT_EQ(available_memory(root.path("")), 2000u * 1024);
}

TEST(HostMemory, AControlGroupMayLeaveLess) {
  TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:  2000 kB\n");
  root.write("proc/self/cgroup", "0::/jobs/one\n");
  root.write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  root.write("sys/fs/cgroup/jobs/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/jobs/memory.current", "700000\n");
  root.write("sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file 200000\n");
  EXPECT_EQ(available_memory(root.path("")), 500'000u);
}

TEST(HostMemory, VersionOneGroupsToo) {
  TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:  2000 kB\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
  EXPECT_EQ(available_memory(root.path("")), 0u);
}

TEST(HostMemory, UnknownIsUnlimited) {
  TemporaryFolder root;
  EXPECT_EQ(available_memory(root.path("")), kUnlimited);
}

TEST(HostMemory, ThisMachineHasSome) {
  EXPECT_GT(available_memory(), 0u);
  EXPECT_GT(resident_memory(), 0u);
}

TEST(HostMemory, ARunThatDoesNotFitIsRefused) {
  EXPECT_NO_THROW(check_machine_memory(60, 40, 100));
  EXPECT_THROW(check_machine_memory(60, 41, 100), NotEnoughMemory);
  EXPECT_THROW(check_machine_memory(101, 0, 100), NotEnoughMemory);
  EXPECT_EQ(test::message_of([] { check_machine_memory(2048, 1, 100); }),
            "not enough memory on this machine: the run needs 2.00 KiB (2,048 B) for its arena and "
            "1 B for arrays beside it, 100 B are left");
}

}  // namespace
}  // namespace arenagrad
