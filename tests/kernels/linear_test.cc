#include "kernels/cpu/linear.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/gemm.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu {
namespace {

using namespace cpu_test;

enum class Operation { forward, forward_bias, data, data_accumulate, weight, weight_accumulate };
constexpr Operation kOperations[] = {Operation::forward, Operation::forward_bias,
                                     Operation::data,    Operation::data_accumulate,
                                     Operation::weight,  Operation::weight_accumulate};

ConvPass pass_of(Operation operation) {
  if (operation <= Operation::forward_bias) return ConvPass::forward;
  return operation <= Operation::data_accumulate ? ConvPass::backward_data
                                                 : ConvPass::backward_filter;
}

template <class T>
struct Data {
  explicit Data(const LinearProblem& p)
      : problem(p),
        x(values<T>(p.batch * p.in_features, 1)),
        w(values<T>(p.out_features * p.in_features, 2)),
        bias(values<T>(p.out_features, 3)),
        dy(values<T>(p.batch * p.out_features, 4)) {}
  LinearProblem problem;
  std::vector<T> x, w, bias, dy;
};

template <class T>
std::vector<T> output_before(const Data<T>& d, Operation operation, unsigned char fill) {
  const ConvPass pass = pass_of(operation);
  const auto count = static_cast<std::int64_t>(pass == ConvPass::forward         ? d.dy.size()
                                               : pass == ConvPass::backward_data ? d.x.size()
                                                                                 : d.w.size());
  const bool accumulates =
      operation == Operation::data_accumulate || operation == Operation::weight_accumulate;
  return accumulates ? values<T>(count, 5) : filled<T>(count, fill);
}

template <class T>
std::vector<T> run(const Data<T>& d, Operation operation, unsigned char fill, int threads) {
  const LinearProblem& p = d.problem;
  std::vector<T> out = output_before(d, operation, fill);
  GuardedWorkspace workspace(linear_workspace(p, pass_of(operation)), fill);
  const ConstTensor x = view(d.x, {p.batch, p.in_features});
  const ConstTensor w = view(d.w, {p.out_features, p.in_features});
  const ConstTensor dy = view(d.dy, {p.batch, p.out_features});
  const bool accumulate =
      operation == Operation::data_accumulate || operation == Operation::weight_accumulate;
  const Write write = accumulate ? Write::accumulate : Write::overwrite;
  switch (pass_of(operation)) {
    case ConvPass::forward:
      linear_forward(
          p, x, w,
          operation == Operation::forward_bias ? view(d.bias, {p.out_features}) : ConstTensor{},
          view(out, {p.batch, p.out_features}), workspace.view(), threads);
      break;
    case ConvPass::backward_data:
      linear_backward_data(p, dy, w, view(out, {p.batch, p.in_features}), write, workspace.view(),
                           threads);
      break;
    case ConvPass::backward_filter:
      linear_backward_weight(p, x, dy, view(out, {p.out_features, p.in_features}), write,
                             workspace.view(), threads);
      break;
  }
  EXPECT_TRUE(workspace.intact());
  return out;
}

template <class T>
std::vector<double> expected(const Data<T>& d, Operation operation) {
  const LinearProblem& p = d.problem;
  const std::vector<T> before = output_before(d, operation, 0);
  std::vector<double> out(before.begin(), before.end());
  for (std::int64_t n = 0; n < p.batch; ++n)
    for (std::int64_t o = 0; o < p.out_features; ++o) {
      const std::int64_t y = n * p.out_features + o;
      if (operation == Operation::forward_bias) out[y] += d.bias[o];
      for (std::int64_t i = 0; i < p.in_features; ++i) {
        const std::int64_t x = n * p.in_features + i, w = o * p.in_features + i;
        switch (pass_of(operation)) {
          case ConvPass::forward: out[y] += double{d.x[x]} * d.w[w]; break;
          case ConvPass::backward_data: out[x] += double{d.dy[y]} * d.w[w]; break;
          case ConvPass::backward_filter: out[w] += double{d.dy[y]} * d.x[x]; break;
        }
      }
    }
  return out;
}

template <class T>
void check(std::int64_t batch, std::int64_t in, std::int64_t out) {
  const Data<T> data(LinearProblem{batch, in, out, dtype_of<T>});
  for (Operation operation : kOperations) {
    SCOPED_TRACE(std::to_string(batch) + " x " + std::to_string(in) + " to " + std::to_string(out) +
                 ", operation " + std::to_string(static_cast<int>(operation)));
    const std::vector<T> result = run(data, operation, 0xFF, 1);
    EXPECT_TRUE(close(result, expected(data, operation), kLimit<T>));
    EXPECT_TRUE(same_bits(result, run(data, operation, 0x00, 1))) << "depends on memory's fill";
    EXPECT_TRUE(same_bits(result, run(data, operation, 0xFF, 2))) << "2 threads";
    EXPECT_TRUE(same_bits(result, run(data, operation, 0xFF, 3))) << "3 threads";
  }
}

TEST(LinearTest, EqualsTheDefinition) {
  prepare_gemm();
  const std::int64_t cases[][3] = {{1, 1, 1},    {1, 37, 10},   {8, 300, 70},  {5, 64, 129},
                                   {33, 9, 200}, {17, 513, 65}, {600, 20, 30}, {3, 1030, 300}};
  for (const auto& [batch, in, out] : cases) {
    check<float>(batch, in, out);
    check<double>(batch, in, out);
  }
}

TEST(LinearTest, RefusesLessWorkspaceThanDeclared) {
  const Data<float> d(LinearProblem{2, 8, 4, DType::f32});
  std::vector<float> dx(d.x.size());
  GuardedWorkspace workspace(linear_workspace(d.problem, ConvPass::backward_data), 0);
  Workspace small = workspace.view();
  small.bytes -= 1;
  EXPECT_THROW(linear_backward_data(d.problem, view(d.dy, {2, 4}), view(d.w, {4, 8}),
                                    view(dx, {2, 8}), Write::overwrite, small, 1),
               ContractError);
}

}  // namespace
}  // namespace arenagrad::cpu
