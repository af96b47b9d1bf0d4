#include "experiments/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

template <class T>
HostTensor tensor(std::string name, const std::vector<T>& values) {
  HostTensor result{std::move(name), dtype_of<T>, {}};
  result.bytes.resize(values.size() * sizeof(T));
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

TEST(Gradients, EqualOnesAreNoDistanceApart) {
  const HostTensors a = {tensor<float>("w", {3, -4}), tensor<float>("b", {1})};
  const auto d = difference(a, a);
  EXPECT_EQ(d.rel_l2, 0);
  EXPECT_EQ(d.max_abs, 0);
  EXPECT_EQ(d.max_ulp, 0);
  EXPECT_EQ(d.cosine, 1);
  EXPECT_TRUE(d.finite);
  EXPECT_TRUE(d.worst_parameter.empty());
  EXPECT_EQ(bytes_of(a), 12u);
}

TEST(Gradients, MeasuresOverTheWholeGradient) {
  const HostTensors a = {tensor<double>("w", {3, 4}), tensor<double>("b", {0})};
  const HostTensors b = {tensor<double>("w", {3, 4}), tensor<double>("b", {12})};
  const auto d = difference(a, b);
  EXPECT_DOUBLE_EQ(d.rel_l2, 12.0 / 13.0);  // by the larger of the two norms
  EXPECT_DOUBLE_EQ(d.cosine, 25.0 / (5 * 13));
  EXPECT_EQ(d.max_abs, 12);
  EXPECT_EQ(d.worst_parameter, "b");
  EXPECT_DOUBLE_EQ(d.worst_difference, 1);
}

TEST(Gradients, AZeroGradientAgainstAnother) {
  const HostTensors zero = {tensor<float>("w", {0, 0})}, one = {tensor<float>("w", {1, 0})};
  EXPECT_EQ(difference(zero, zero).rel_l2, 0);
  EXPECT_EQ(difference(zero, zero).cosine, 1);
  EXPECT_EQ(difference(zero, one).rel_l2, 1);
  EXPECT_EQ(difference(zero, one).cosine, 0);
}

TEST(Gradients, TheFloorKeepsRoundingNoiseFromBeingTheWorst) {
  // b's true gradient is zero: what is there is noise that differs by its whole size. The floor is
  // 1e-6 x 1000 x sqrt(1 / 2).
  const HostTensors a = {tensor<float>("w", {1000}), tensor<float>("b", {6e-4f})};
  const HostTensors b = {tensor<float>("w", {1000.0001f}), tensor<float>("b", {-6e-4f})};
  auto d = difference(a, b);
  EXPECT_EQ(d.worst_parameter, "w");
  EXPECT_EQ(d.zero_up_to_rounding, std::vector<std::string>{"b"});
  EXPECT_LT(d.max_ulp, 3);  // b's thousands of ulps are left out
  EXPECT_FLOAT_EQ(static_cast<float>(d.max_abs), 1.2e-3f);

  // Just above the floor it counts.
  const HostTensors c = {tensor<float>("w", {1000}), tensor<float>("b", {8e-4f})};
  d = difference(c, b);
  EXPECT_EQ(d.worst_parameter, "b");
  EXPECT_TRUE(d.zero_up_to_rounding.empty());
}

TEST(Gradients, UlpsAreOfTheTensorsLargestMagnitude) {
  const float step = std::ldexp(1.0f, -23);  // ulp of 1
  const HostTensors a = {tensor<float>("w", {1, 0})};
  const HostTensors b = {tensor<float>("w", {1, 3 * step})};
  EXPECT_EQ(difference(a, b).max_ulp, 3);
  EXPECT_EQ(ulp(1, DType::f32), std::ldexp(1.0, -23));
  EXPECT_EQ(ulp(1, DType::f64), std::ldexp(1.0, -52));
}

TEST(Gradients, MixedTypesAreComparedInDouble) {
  const HostTensors narrow = {tensor<float>("w", {0.1f})}, wide = {tensor<double>("w", {0.1})};
  EXPECT_EQ(difference(narrow, wide).max_abs, std::abs(double{0.1f} - 0.1));
  EXPECT_EQ(difference(wide, narrow).max_abs, std::abs(double{0.1f} - 0.1));
}

TEST(Gradients, NaNIsNotFinite) {
  const HostTensors a = {tensor<float>("w", {1})};
  const HostTensors b = {tensor<float>("w", {std::numeric_limits<float>::quiet_NaN()})};
  EXPECT_FALSE(difference(a, b).finite);
}

TEST(Gradients, DifferentNamesOrSizesAreRefused) {
  const HostTensors a = {tensor<float>("w", {1})};
  EXPECT_THROW(difference(a, {tensor<float>("v", {1})}), ContractError);
  EXPECT_THROW(difference(a, {tensor<float>("w", {1, 2})}), ContractError);
  EXPECT_THROW(difference(a, {}), ContractError);
}

}  // namespace
}  // namespace arenagrad
