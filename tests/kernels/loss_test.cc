#include <gtest/gtest.h>

#include <cmath>

#include "kernels/bodies/workspace.h"
#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

struct Size {
  std::int64_t batch, classes;
};
const Size kSizes[] = {{1, 1}, {1, 10}, {5, 32}, {64, 10}, {3, 33}, {67, 1000}, {200, 5}};

template <class T>
struct Case {
  Size size;
  std::vector<T> logits;
  std::vector<std::int64_t> labels;
  std::vector<double> probabilities;
  double loss = 0;

  Case(Size s, double spread, double weight)
      : size(s),
        logits(values<T>(s.batch * s.classes, 1)),
        labels(static_cast<std::size_t>(s.batch)) {
    for (T& v : logits) v = static_cast<T>(v * spread);
    for (std::int64_t n = 0; n < s.batch; ++n) {
      labels[n] = n * 7 % s.classes;
      const T* row = logits.data() + n * s.classes;
      const double maximum = *std::max_element(row, row + s.classes);
      double sum = 0;
      for (std::int64_t c = 0; c < s.classes; ++c) sum += std::exp(row[c] - maximum);
      for (std::int64_t c = 0; c < s.classes; ++c)
        probabilities.push_back(std::exp(row[c] - maximum) / sum);
      loss += weight * (std::log(sum) + maximum - row[labels[n]]);
    }
  }
  SoftmaxCrossEntropyProblem problem() const { return {size.batch, size.classes, dtype_of<T>}; }
  template <class V>
  auto shaped(V& data) const {
    return view(data, {size.batch, size.classes});
  }
};

/// Probabilities, then the loss.
template <class T>
std::vector<T> forward(Backend& backend, const Case<T>& c, double weight, bool in_place) {
  GuardedWorkspace workspace(softmax_cross_entropy_workspace(c.problem()), 0xFF);
  std::vector<T> logits = c.logits, apart = filled<T>(c.size.batch * c.size.classes, 0xFF);
  std::vector<T>& probabilities = in_place ? logits : apart;
  std::vector<T> loss = filled<T>(1, 0xFF);
  backend.softmax_cross_entropy_forward(
      c.problem(), weight, c.shaped(logits), view(c.labels, {c.size.batch}),
      c.shaped(probabilities), Tensor{loss.data(), Shape(), dtype_of<T>}, workspace.view());
  EXPECT_TRUE(workspace.intact());
  probabilities.push_back(loss[0]);
  return probabilities;
}

template <class T>
class Loss : public ::testing::Test {};
TYPED_TEST_SUITE(Loss, Floats);

TYPED_TEST(Loss, IsTheCrossEntropy) {
  using T = TypeParam;
  for (const Size& size : kSizes)
    for (double spread : {0.01, 3.0, 60.0}) {
      SCOPED_TRACE(std::to_string(size.batch) + "x" + std::to_string(size.classes));
      const double weight = 1.0 / static_cast<double>(size.batch);
      const Case<T> c(size, spread, weight);
      auto got =
          at_any_threads([&](Backend& backend) { return forward(backend, c, weight, false); });
      EXPECT_TRUE(same_bits(got, at_any_threads([&](Backend& backend) {
                              return forward(backend, c, weight, true);
                            })));
      const double loss = got.back();
      got.pop_back();
      EXPECT_TRUE(close(got, c.probabilities, kLimit<T> / 4));
      EXPECT_NEAR(loss, c.loss, (sizeof(T) == 8 ? 1e-14 : 1e-7) * std::max(1.0, c.loss));
    }
}

TYPED_TEST(Loss, SurvivesLargeLogits) {
  using T = TypeParam;
  Case<T> c({1, 3}, 1, 1);
  c.logits = {T(1e6), T(-1e6), T(1e6 + 3)};
  c.labels = {0};
  CpuBackend backend(1);
  const auto got = forward(backend, c, 1, false);
  EXPECT_NEAR(got[2], 1 / (1 + std::exp(-3.0)), 1e-6);
  EXPECT_EQ(got[1], T(0));
  EXPECT_NEAR(got[3], 3 + std::log1p(std::exp(-3.0)), 1e-6);
}

TYPED_TEST(Loss, ALabelOutOfRangeMakesNaN) {
  using T = TypeParam;
  CpuBackend backend(1);
  for (std::int64_t label : {-1, 10}) {
    Case<T> c({2, 10}, 1, 1);
    c.labels[1] = label;
    EXPECT_TRUE(std::isnan(forward(backend, c, 1, false).back()));
  }
}

TYPED_TEST(Loss, BackwardIsProbabilityMinusTarget) {
  using T = TypeParam;
  for (const Size& size : kSizes) {
    const Case<T> c(size, 2, 1);
    const std::vector<T> p(c.probabilities.begin(), c.probabilities.end());
    const double seed = 0.125;
    std::vector<double> want;
    for (std::int64_t n = 0; n < size.batch; ++n)
      for (std::int64_t i = 0; i < size.classes; ++i)
        want.push_back(seed * (p[n * size.classes + i] - (c.labels[n] == i ? 1 : 0)));
    expect_written<T>(want, [&](Backend& backend, Write write, std::vector<T>& dlogits) {
      backend.softmax_cross_entropy_backward(
          c.problem(), seed, c.shaped(p), view(c.labels, {size.batch}), c.shaped(dlogits), write);
    });
  }
}

TEST(LossContracts, ScratchIsDemanded) {
  const Case<float> c({4, 3}, 1, 1);
  CpuBackend backend(1);
  std::vector<float> p(12), loss(1);
  std::vector<double> scratch(8);
  EXPECT_EQ(softmax_cross_entropy_workspace(c.problem()), 64u);
  EXPECT_THROW(
      backend.softmax_cross_entropy_forward(c.problem(), 1, c.shaped(c.logits), view(c.labels, {4}),
                                            c.shaped(p), view(loss, {1}), {scratch.data(), 63}),
      ContractError);
}

}  // namespace
}  // namespace arenagrad
