// The layer harness's backend, on the GPU under test. Exit status 77 where there is none.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/cuda/shared_gpu.h"
#include "tests/layers/backend_under_test.h"

namespace arenagrad::testing {

std::unique_ptr<Backend> make_backend_under_test(int) {
  return std::make_unique<cuda_test::StagedBackend>([] { return cuda_test::shared_gpu().open(); });
}

Profile profile_under_test() { return cuda_test::shared_gpu().profile(); }

/// Batch norm's parameter gradients are cuDNN's beside dx, and the shared bodies' without it.
bool wanting_less_changes_no_bits() { return false; }

}  // namespace arenagrad::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const auto why = arenagrad::cuda_test::why_no_gpu();
  if (!why.empty() && !::testing::GTEST_FLAG(list_tests)) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
