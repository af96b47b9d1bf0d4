// The shared bodies have the same bits on a GPU as on the processor, those aside that call
// functions which the two round differently (exp, log, pow).
#include <gtest/gtest.h>

#include "kernels/cpu/backend.h"
#include "tests/cuda/shared_gpu.h"
#include "tests/kernels/operations.h"

namespace arenagrad::cuda_test {
namespace {

template <class T>
class CudaBodies : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaBodies, Floats);

TYPED_TEST(CudaBodies, HaveTheProcessorsBits) {
  if (const auto why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  cpu_test::Operations<TypeParam> operations;
  CpuBackend cpu(1);
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    StagedBackend gpu([layout] { return shared_gpu(layout).open(); });
    for (const cpu_test::Operation& operation : operations.all()) {
      if (!operation.has_one_result) {
        const auto values = operations.values_after(operation, cpu);
        EXPECT_TRUE(cpu_test::close(operations.values_after(operation, gpu),
                                    std::vector<double>(values.begin(), values.end()),
                                    cpu_test::kLimit<TypeParam>))
            << operation.name << " " << name(layout);
        continue;
      }
      const auto want = operations.bytes_after(operation, cpu);
      EXPECT_TRUE(cpu_test::same_bits(operations.bytes_after(operation, gpu), want))
          << operation.name << " " << name(layout);
    }
  }
}

}  // namespace
}  // namespace arenagrad::cuda_test
