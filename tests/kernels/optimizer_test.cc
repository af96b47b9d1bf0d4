#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

constexpr std::int64_t kCount = 40001;
constexpr int kSteps = 4;

template <class T>
std::vector<T> gradient(int step) {
  return values<T>(kCount, static_cast<std::uint64_t>(100 + step));
}

/// Everything a parameter's element has, in double.
struct Element {
  double parameter, a = 0, b = 0;  // momentum, or first and second moment
};

template <class T, class Update>
std::vector<double> by_formula(const Update& update) {
  const std::vector<T> start = values<T>(kCount, 1);
  std::vector<double> out;
  std::vector<std::vector<T>> gradients;
  for (int step = 1; step <= kSteps; ++step) gradients.push_back(gradient<T>(step));
  for (std::size_t i = 0; i < start.size(); ++i) {
    Element element{start[i]};
    for (int step = 1; step <= kSteps; ++step) update(element, gradients[step - 1][i], step);
    out.push_back(element.parameter);
  }
  return out;
}

template <class T>
class Optimizer : public ::testing::Test {};
TYPED_TEST_SUITE(Optimizer, Floats);

// torch.optim.SGD: g += weight_decay * p; b = momentum * b + g (b = g in the first step);
// g = g + momentum * b if nesterov, else b; p -= learning_rate * g.
TYPED_TEST(Optimizer, SgdFollowsItsFormula) {
  using T = TypeParam;
  struct Case {
    double momentum, weight_decay;
    bool nesterov;
  };
  for (const Case& c : {Case{0, 0, false}, Case{0, 0.1, false}, Case{0.9, 0, false},
                        Case{0.9, 0.1, false}, Case{0.8, 0.1, true}}) {
    SCOPED_TRACE(testing::Message() << c.momentum << " " << c.weight_decay << " " << c.nesterov);
    const double rate = 0.05;
    const auto want = by_formula<T>([&](Element& e, double g, int step) {
      g += c.weight_decay * e.parameter;
      if (c.momentum != 0) {
        e.a = step == 1 ? g : c.momentum * e.a + g;
        g = c.nesterov ? g + c.momentum * e.a : e.a;
      }
      e.parameter -= rate * g;
    });
    const auto got = at_any_threads([&](Backend& backend) {
      std::vector<T> parameter = values<T>(kCount, 1), buffer = filled<T>(kCount, 0xFF);
      for (int step = 1; step <= kSteps; ++step) {
        const std::vector<T> g = gradient<T>(step);
        backend.sgd({rate, c.momentum, c.weight_decay, c.nesterov, step == 1},
                    view(parameter, {kCount}), view(g, {kCount}),
                    c.momentum == 0 ? Tensor{} : view(buffer, {kCount}));
      }
      return parameter;
    });
    EXPECT_TRUE(close(got, want, kLimit<T> / 4));
  }
}

// torch.optim.Adam and AdamW: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
// p -= learning_rate * m^ / (sqrt(v^) + eps) with m^ = m / (1 - beta1^t), v^ = v / (1 - beta2^t).
// Weight decay adds to g, or for AdamW shrinks p first.
TYPED_TEST(Optimizer, AdamFollowsItsFormula) {
  using T = TypeParam;
  struct Case {
    double weight_decay;
    bool decoupled;
  };
  for (const Case& c : {Case{0, false}, Case{0.1, false}, Case{0.1, true}}) {
    SCOPED_TRACE(testing::Message() << c.weight_decay << " " << c.decoupled);
    const double rate = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    const auto want = by_formula<T>([&](Element& e, double g, int step) {
      if (c.decoupled)
        e.parameter -= rate * c.weight_decay * e.parameter;
      else
        g += c.weight_decay * e.parameter;
      e.a = beta1 * e.a + (1 - beta1) * g;
      e.b = beta2 * e.b + (1 - beta2) * g * g;
      const double m = e.a / (1 - std::pow(beta1, step)), v = e.b / (1 - std::pow(beta2, step));
      e.parameter -= rate * m / (std::sqrt(v) + eps);
    });
    const auto got = at_any_threads([&](Backend& backend) {
      std::vector<T> parameter = values<T>(kCount, 1);
      std::vector<T> first = filled<T>(kCount, 0xFF), second = filled<T>(kCount, 0xFF);
      for (int step = 1; step <= kSteps; ++step) {
        const std::vector<T> g = gradient<T>(step);
        backend.adam({rate, beta1, beta2, eps, c.weight_decay, c.decoupled, step},
                     view(parameter, {kCount}), view(g, {kCount}), view(first, {kCount}),
                     view(second, {kCount}));
      }
      return parameter;
    });
    EXPECT_TRUE(close(got, want, kLimit<T> / 4));
  }
}

}  // namespace
}  // namespace arenagrad
