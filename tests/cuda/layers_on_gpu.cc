// The layer harness's backend, on the GPU under test. Exit status 77 where there is none. With the
// argument nhwc, images lie on the GPU with their channels innermost.
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "tests/cuda/shared_gpu.h"
#include "tests/layers/backend_under_test.h"

namespace arenagrad::testing {
namespace {

Layout layout_under_test = Layout::nchw;  // set by main

}  // namespace

std::unique_ptr<Backend> make_backend_under_test(int) {
  return std::make_unique<cuda_test::StagedBackend>(
      [] { return cuda_test::shared_gpu(layout_under_test).open(); });
}

Profile profile_under_test() { return cuda_test::shared_gpu(layout_under_test).profile(); }

/// Batch norm's parameter gradients are cuDNN's beside dx, and the shared bodies' without it.
bool wanting_less_changes_no_bits() { return false; }

}  // namespace arenagrad::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && argv[1] == std::string_view("nhwc"))
    arenagrad::testing::layout_under_test = arenagrad::Layout::nhwc;
  const auto why = arenagrad::cuda_test::why_no_gpu();
  if (!why.empty() && !::testing::GTEST_FLAG(list_tests)) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
