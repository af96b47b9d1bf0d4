#include "kernels/cpu/convolution.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/cpu/gemm.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu {
namespace {

using namespace cpu_test;

struct Axis {
  std::int64_t in, kernel, stride, pad, dilation;
  std::int64_t out() const { return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};

struct Case {
  const char* name;
  std::int64_t batch, in_channels, out_channels, groups;
  Axis h, w;

  ConvProblem problem(DType dtype) const {
    return {batch,      in_channels, h.in,     w.in,    out_channels, h.kernel,
            w.kernel,   h.stride,    w.stride, h.pad,   w.pad,        h.dilation,
            w.dilation, groups,      h.out(),  w.out(), dtype};
  }
};

constexpr Axis square(std::int64_t in, std::int64_t kernel, std::int64_t stride = 1,
                      std::int64_t pad = 0, std::int64_t dilation = 1) {
  return {in, kernel, stride, pad, dilation};
}

const Case kCases[] = {
    {"tiny", 1, 1, 1, 1, square(1, 1), square(1, 1)},
    {"plain", 2, 3, 5, 1, square(7, 3), square(6, 3)},
    {"same_padding", 2, 4, 6, 1, square(9, 3, 1, 1), square(7, 3, 1, 1)},
    {"same_padding_wide", 1, 3, 4, 1, square(5, 3, 1, 1), square(500, 3, 1, 1)},
    {"five_by_three", 2, 2, 3, 1, square(8, 5, 1, 2), square(9, 3, 1, 1)},
    {"stride_two", 3, 4, 5, 1, square(11, 3, 2, 1), square(10, 3, 2, 1)},
    {"stride_two_even", 1, 3, 4, 1, square(12, 4, 2, 1), square(9, 2, 2, 0)},
    {"stem", 2, 3, 8, 1, square(29, 7, 2, 3), square(31, 7, 2, 3)},
    {"alexnet_stem", 1, 3, 4, 1, square(35, 11, 4, 2), square(33, 11, 4, 2)},
    {"stride_above_kernel", 2, 3, 4, 1, square(13, 2, 3), square(14, 2, 5)},
    {"mixed_strides", 2, 3, 4, 1, square(9, 3, 1, 1), square(9, 3, 2, 1)},
    {"padding_above_kernel", 1, 2, 3, 1, square(4, 2, 1, 3), square(3, 3, 1, 4)},
    {"padding_above_kernel_strided", 1, 2, 3, 1, square(4, 2, 2, 3), square(3, 3, 3, 5)},
    {"dilation", 2, 3, 4, 1, square(11, 3, 1, 2, 2), square(12, 3, 1, 3, 3)},
    {"dilation_strided", 2, 3, 4, 1, square(13, 3, 2, 2, 2), square(12, 2, 3, 0, 5)},
    {"kernel_is_input", 3, 4, 5, 1, square(6, 6), square(5, 5)},
    {"one_by_one", 2, 7, 9, 1, square(5, 1), square(6, 1)},
    {"one_by_one_large_plane", 2, 5, 6, 1, square(30, 1), square(31, 1)},
    {"one_by_one_strided", 2, 6, 4, 1, square(14, 1, 2), square(15, 1, 2)},
    {"one_by_one_padded", 1, 3, 4, 1, square(4, 1, 1, 1), square(5, 1, 1, 2)},
    {"groups", 2, 6, 8, 2, square(9, 3, 1, 1), square(8, 3, 1, 1)},
    {"groups_strided", 2, 6, 9, 3, square(9, 3, 2, 1), square(8, 3, 2, 1)},
    {"groups_one_by_one", 3, 6, 4, 2, square(5, 1), square(4, 1)},
    {"groups_dilated", 1, 4, 4, 2, square(10, 3, 1, 2, 2), square(9, 3, 1, 1, 1)},
    {"depthwise", 2, 5, 5, 5, square(8, 3, 1, 1), square(9, 3, 1, 1)},
    {"depthwise_multiplied", 2, 3, 6, 3, square(9, 3, 2, 1), square(8, 5, 2, 2)},
    {"many_small_images", 11, 4, 5, 1, square(7, 3, 1, 1), square(7, 3, 1, 1)},
    {"many_small_images_strided", 10, 4, 5, 1, square(13, 3, 2, 1), square(14, 3, 2, 1)},
    {"many_channels", 2, 40, 150, 1, square(7, 3, 1, 1), square(7, 3, 1, 1)},
    {"deep_steps", 1, 70, 33, 1, square(20, 3, 1, 1), square(23, 3, 1, 1)},
    {"large_filter", 3, 70, 130, 1, square(6, 3, 1, 1), square(5, 3, 1, 1)},
    {"large_filter_one_by_one", 2, 280, 260, 1, square(3, 1), square(5, 1)},
    {"tall", 1, 2, 3, 1, square(40, 5, 1, 2), square(1, 1)},
    {"line", 2, 2, 3, 1, square(1, 1), square(60, 7, 2, 3)},
};

/// The definition: visit(output, input, weight) for every product there is, as flat indices.
void for_products(const ConvProblem& p,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const std::int64_t ins = p.in_channels / p.groups, outs = p.out_channels / p.groups;
  for (std::int64_t n = 0; n < p.batch; ++n)
    for (std::int64_t o = 0; o < p.out_channels; ++o)
      for (std::int64_t i = 0; i < ins; ++i)
        for (std::int64_t a = 0; a < p.kernel_h; ++a)
          for (std::int64_t b = 0; b < p.kernel_w; ++b)
            for (std::int64_t y = 0; y < p.out_h; ++y)
              for (std::int64_t x = 0; x < p.out_w; ++x) {
                const std::int64_t v = y * p.stride_h - p.pad_h + a * p.dilation_h;
                const std::int64_t u = x * p.stride_w - p.pad_w + b * p.dilation_w;
                if (v < 0 || v >= p.in_h || u < 0 || u >= p.in_w) continue;
                visit(((n * p.out_channels + o) * p.out_h + y) * p.out_w + x,
                      ((n * p.in_channels + o / outs * ins + i) * p.in_h + v) * p.in_w + u,
                      ((o * ins + i) * p.kernel_h + a) * p.kernel_w + b);
              }
}

template <class T>
struct Data {
  explicit Data(const ConvProblem& p)
      : problem(p),
        x(values<T>(p.batch * p.in_channels * p.in_h * p.in_w, 1)),
        w(values<T>(p.out_channels * (p.in_channels / p.groups) * p.kernel_h * p.kernel_w, 2)),
        bias(values<T>(p.out_channels, 3)),
        dy(values<T>(p.batch * p.out_channels * p.out_h * p.out_w, 4)) {}

  ConstTensor x_view() const {
    return view(x, {problem.batch, problem.in_channels, problem.in_h, problem.in_w});
  }
  ConstTensor dy_view() const {
    return view(dy, {problem.batch, problem.out_channels, problem.out_h, problem.out_w});
  }
  ConvProblem problem;
  std::vector<T> x, w, bias, dy;
};

enum class Operation { forward, forward_bias, data, data_accumulate, filter, filter_accumulate };
constexpr Operation kOperations[] = {Operation::forward, Operation::forward_bias,
                                     Operation::data,    Operation::data_accumulate,
                                     Operation::filter,  Operation::filter_accumulate};

ConvPass pass_of(Operation operation) {
  if (operation <= Operation::forward_bias) return ConvPass::forward;
  return operation <= Operation::data_accumulate ? ConvPass::backward_data
                                                 : ConvPass::backward_filter;
}

bool accumulates(Operation o) {
  return o == Operation::data_accumulate || o == Operation::filter_accumulate;
}

template <class T>
std::vector<T> output_before(const Data<T>& data, Operation operation, unsigned char fill) {
  const std::vector<T>& like = pass_of(operation) == ConvPass::forward         ? data.dy
                               : pass_of(operation) == ConvPass::backward_data ? data.x
                                                                               : data.w;
  const auto count = static_cast<std::int64_t>(like.size());
  return accumulates(operation) ? values<T>(count, 5) : filled<T>(count, fill);
}

template <class T>
std::vector<T> run(const Data<T>& d, Operation operation, unsigned char fill, int threads) {
  const ConvProblem& p = d.problem;
  std::vector<T> out = output_before(d, operation, fill);
  GuardedWorkspace workspace(conv_workspace(p, pass_of(operation)), fill);
  const Write write = accumulates(operation) ? Write::accumulate : Write::overwrite;
  const std::initializer_list<std::int64_t> filter = {p.out_channels, p.in_channels / p.groups,
                                                      p.kernel_h, p.kernel_w};
  switch (pass_of(operation)) {
    case ConvPass::forward: {
      const ConstTensor bias =
          operation == Operation::forward_bias ? view(d.bias, {p.out_channels}) : ConstTensor{};
      conv_forward(p, 0, d.x_view(), view(d.w, filter), bias,
                   view(out, {p.batch, p.out_channels, p.out_h, p.out_w}), workspace.view(),
                   threads);
      break;
    }
    case ConvPass::backward_data:
      conv_backward_data(p, 0, d.dy_view(), view(d.w, filter),
                         view(out, {p.batch, p.in_channels, p.in_h, p.in_w}), write,
                         workspace.view(), threads);
      break;
    case ConvPass::backward_filter:
      conv_backward_filter(p, 0, d.x_view(), d.dy_view(), view(out, filter), write,
                           workspace.view(), threads);
      break;
  }
  EXPECT_TRUE(workspace.intact());
  return out;
}

template <class T>
std::vector<double> expected(const Data<T>& d, Operation operation) {
  const ConvProblem& p = d.problem;
  const std::vector<T> before = output_before(d, operation, 0);
  std::vector<double> out(before.begin(), before.end());
  if (operation == Operation::forward_bias)
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = d.bias[i / (p.out_h * p.out_w) % p.out_channels];
  for_products(p, [&](std::int64_t y, std::int64_t x, std::int64_t w) {
    switch (pass_of(operation)) {
      case ConvPass::forward: out[y] += double{d.x[x]} * d.w[w]; break;
      case ConvPass::backward_data: out[x] += double{d.dy[y]} * d.w[w]; break;
      case ConvPass::backward_filter: out[w] += double{d.dy[y]} * d.x[x]; break;
    }
  });
  return out;
}

template <class T>
void check(const Case& c) {
  const Data<T> data(c.problem(dtype_of<T>));
  for (Operation operation : kOperations) {
    SCOPED_TRACE(std::string(c.name) + ", operation " +
                 std::to_string(static_cast<int>(operation)));
    const std::vector<T> result = run(data, operation, 0xFF, 1);
    EXPECT_TRUE(close(result, expected(data, operation), kLimit<T>));
    EXPECT_TRUE(same_bits(result, run(data, operation, 0x00, 1))) << "depends on memory's fill";
    EXPECT_TRUE(same_bits(result, run(data, operation, 0xFF, 2))) << "2 threads";
    EXPECT_TRUE(same_bits(result, run(data, operation, 0xFF, 3))) << "3 threads";
  }
}

class ConvolutionTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { prepare_gemm(); }
};

TEST_P(ConvolutionTest, EqualsTheDefinitionF32) { check<float>(GetParam()); }
TEST_P(ConvolutionTest, EqualsTheDefinitionF64) { check<double>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ConvolutionWorkspaceTest, RefusesLessThanDeclared) {
  prepare_gemm();
  const Data<float> d(kCases[2].problem(DType::f32));
  const ConvProblem& p = d.problem;
  std::vector<float> y(d.dy.size());
  GuardedWorkspace workspace(conv_workspace(p, ConvPass::forward), 0);
  Workspace small = workspace.view();
  small.bytes -= 1;
  EXPECT_THROW(
      conv_forward(p, 0, d.x_view(), view(d.w, {6, 4, 3, 3}), {}, view(y, {2, 6, 9, 7}), small, 1),
      ContractError);
  EXPECT_THROW(conv_forward(p, 1, d.x_view(), view(d.w, {6, 4, 3, 3}), {}, view(y, {2, 6, 9, 7}),
                            workspace.view(), 1),
               ContractError);
}

template <class T>
void check_bias_gradient(std::int64_t batch, std::int64_t channels, std::int64_t spatial) {
  const std::vector<T> dy = values<T>(batch * channels * spatial, 1);
  for (Write write : {Write::overwrite, Write::accumulate}) {
    std::vector<T> first;
    for (int threads : {1, 2, 3}) {
      std::vector<T> db =
          write == Write::accumulate ? values<T>(channels, 2) : filled<T>(channels, 0xFF);
      std::vector<double> want(channels, 0.0);
      if (write == Write::accumulate) want.assign(db.begin(), db.end());
      for (std::size_t i = 0; i < dy.size(); ++i) want[i / spatial % channels] += dy[i];
      bias_gradient(view(dy, {batch, channels, spatial}), view(db, {channels}), write, threads);
      EXPECT_TRUE(close(db, want, kLimit<T>));
      if (threads == 1) first = db;
      EXPECT_TRUE(same_bits(first, db));
    }
  }
}

TEST(BiasGradientTest, SumsOverBatchAndSpace) {
  check_bias_gradient<float>(3, 37, 25);
  check_bias_gradient<double>(3, 37, 25);
  check_bias_gradient<float>(5, 40, 1);
  check_bias_gradient<double>(1, 1, 1003);
}

}  // namespace
}  // namespace arenagrad::cpu
