// No compute path may allocate once it has run with as many threads: this program counts every call
// to malloc and its kin, the C++ operators and libraries included.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear.h"
#include "tests/kernels/count_allocations.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu {
namespace {

using namespace cpu_test;

class DenseAllocationTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    prepare_gemm();
    if (gemm_kernel_description().starts_with("OpenBLAS"))
      GTEST_SKIP() << "OpenBLAS asks for heap memory itself, for small products";
  }

  /// Allocations of fn's second run.
  template <class Fn>
  static std::int64_t count(const Fn& fn) {
    fn();
    const std::int64_t before = allocations_so_far();
    fn();
    return allocations_so_far() - before;
  }
};

TEST_P(DenseAllocationTest, Convolution) {
  const ConvProblem problems[] = {{3, 8, 20, 20, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 20, 20, DType::f32},
                                  {3, 8, 9, 9, 300, 3, 3, 2, 2, 1, 1, 1, 1, 1, 5, 5, DType::f32},
                                  {3, 300, 5, 5, 256, 1, 1, 1, 1, 0, 0, 1, 1, 1, 5, 5, DType::f32}};
  for (const ConvProblem& p : problems) {
    std::vector<float> x(p.batch * p.in_channels * p.in_h * p.in_w, 1.0f);
    std::vector<float> y(p.batch * p.out_channels * p.out_h * p.out_w, 1.0f);
    std::vector<float> w(p.out_channels * p.in_channels * p.kernel_h * p.kernel_w, 1.0f);
    std::vector<float> bias(p.out_channels, 1.0f);
    const Tensor xv = view(x, {p.batch, p.in_channels, p.in_h, p.in_w});
    const Tensor yv = view(y, {p.batch, p.out_channels, p.out_h, p.out_w});
    const Tensor wv = view(w, {p.out_channels, p.in_channels, p.kernel_h, p.kernel_w});
    const Tensor bv = view(bias, {p.out_channels});
    GuardedWorkspace forward(conv_workspace(p, ConvPass::forward), 0);
    GuardedWorkspace data(conv_workspace(p, ConvPass::backward_data), 0);
    GuardedWorkspace filter(conv_workspace(p, ConvPass::backward_filter), 0);
    EXPECT_EQ(count([&] { conv_forward(p, 0, xv, wv, bv, yv, forward.view(), GetParam()); }), 0);
    EXPECT_EQ(count([&] {
                conv_backward_data(p, 0, yv, wv, xv, Write::overwrite, data.view(), GetParam());
              }),
              0);
    EXPECT_EQ(count([&] {
                conv_backward_filter(p, 0, xv, yv, wv, Write::overwrite, filter.view(), GetParam());
              }),
              0);
    EXPECT_EQ(count([&] { bias_gradient(yv, bv, Write::accumulate, GetParam()); }), 0);
  }
}

TEST_P(DenseAllocationTest, Linear) {
  const LinearProblem p{8, 700, 300, DType::f32};
  std::vector<float> x(8 * 700), y(8 * 300), w(300 * 700), bias(300);
  const Tensor xv = view(x, {8, 700}), yv = view(y, {8, 300}), wv = view(w, {300, 700});
  GuardedWorkspace forward(linear_workspace(p, ConvPass::forward), 0);
  GuardedWorkspace data(linear_workspace(p, ConvPass::backward_data), 0);
  GuardedWorkspace weight(linear_workspace(p, ConvPass::backward_filter), 0);
  EXPECT_EQ(
      count([&] { linear_forward(p, xv, wv, view(bias, {300}), yv, forward.view(), GetParam()); }),
      0);
  EXPECT_EQ(count([&] {
              linear_backward_data(p, yv, wv, xv, Write::overwrite, data.view(), GetParam());
            }),
            0);
  EXPECT_EQ(count([&] {
              linear_backward_weight(p, xv, yv, wv, Write::overwrite, weight.view(), GetParam());
            }),
            0);
}

TEST_P(DenseAllocationTest, BatchNorm) {
  const BatchNormProblem p{4, 20, 50, DType::f32, 1e-5, 0.1};
  std::vector<float> x = values<float>(4 * 20 * 50, 1), y(x.size()), a(20, 1.0f), b(20, 1.0f),
                     mean(20), inverse_std(20);
  const Tensor xv = view(x, {4, 20, 50}), yv = view(y, {4, 20, 50}), av = view(a, {20}),
               bv = view(b, {20}), mv = view(mean, {20}), sv = view(inverse_std, {20});
  EXPECT_EQ(count([&] {
              batch_norm_train(p, xv, av, bv, av, bv, mv, sv, yv, {}, GetParam());
              batch_norm_eval(p, xv, av, bv, av, bv, yv, {}, GetParam());
              batch_norm_train_backward(p, xv, yv, av, mv, sv, yv, Write::overwrite, av, bv,
                                        Write::accumulate, {}, GetParam());
              batch_norm_eval_backward(p, xv, yv, av, mv, sv, yv, Write::overwrite, av, bv,
                                       Write::accumulate, {}, GetParam());
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Threads, DenseAllocationTest, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace arenagrad::cpu
