// No kernel asks for heap memory: whatever a step takes is in the arena, and counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "kernels/cpu/backend.h"
#include "tests/kernels/count_allocations.h"
#include "tests/kernels/operations.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

TEST(Allocations, AreCounted) {
  const std::int64_t before = allocations_so_far();
  auto* keep = new volatile std::int64_t(7);
  void* volatile block = std::malloc(100);
  EXPECT_EQ(allocations_so_far(), before + 2);
  std::free(block);
  delete keep;
}

TEST(Allocations, NoSharedBodyMakesOne) {
  Operations<float> operations;
  for (int threads : {1, 2, 3}) {
    CpuBackend backend(threads);
    for (const Operation& operation : operations.all()) {
      operations.bytes_after(operation, backend);  // starts the threads
      const std::int64_t before = allocations_so_far();
      operation.run(backend);
      const std::int64_t after = allocations_so_far();
      EXPECT_EQ(after, before) << operation.name << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace arenagrad
