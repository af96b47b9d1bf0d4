// Questions asked of every shared body.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cpu/backend.h"
#include "tests/kernels/backward_executor.h"
#include "tests/kernels/operations.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

template <class T>
class Bodies : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Bodies, Floats);

TYPED_TEST(Bodies, OrderAndThreadsDontMatter) {
  Operations<TypeParam> operations;
  BackwardBackend backward;
  CpuBackend one(1), two(2), three(3);
  for (const Operation& operation : operations.all()) {
    const auto want = operations.bytes_after(operation, backward);
    for (Backend* backend : {&one, &two, &three})
      EXPECT_TRUE(same_bits(operations.bytes_after(operation, *backend), want)) << operation.name;
  }
}

TYPED_TEST(Bodies, EachOperationWritesSomething) {
  Operations<TypeParam> operations;
  CpuBackend backend(1);
  const Operation nothing{"", [](Backend&) {}};
  const auto before = operations.bytes_after(nothing, backend);
  for (const Operation& operation : operations.all())
    EXPECT_FALSE(same_bits(operations.bytes_after(operation, backend), before)) << operation.name;
}

}  // namespace
}  // namespace arenagrad
