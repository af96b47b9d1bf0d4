#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

constexpr std::int64_t kSamples = 6, kElements = 4099;
constexpr std::int64_t kCount = kSamples * kElements;

RandomStream stream(std::int64_t first_sample = 0) {
  return {7, RandomPurpose::dropout, 5, 2, first_sample};
}

template <class T>
class Dropout : public ::testing::Test {};
TYPED_TEST_SUITE(Dropout, Floats);

template <class T>
std::vector<double> kept(double p) {
  CpuBackend backend(1);
  std::vector<std::uint8_t> mask(kCount);
  backend.dropout_mask(stream(), p, view(mask, {kSamples, kElements}));
  return {mask.begin(), mask.end()};
}

TYPED_TEST(Dropout, KeepsItsShare) {
  for (double p : {0.0, 0.1, 0.5, 0.9}) {
    double share = 0;
    for (double keep : kept<TypeParam>(p)) {
      ASSERT_TRUE(keep == 0 || keep == 1);
      share += keep / kCount;
    }
    EXPECT_NEAR(share, 1 - p, 4.5 * std::sqrt(p * (1 - p) / kCount) + 1e-9);
  }
}

TYPED_TEST(Dropout, ScalesWhatTheMaskKeeps) {
  using T = TypeParam;
  const double p = 0.3;
  const std::vector<T> x = values<T>(kCount, 1);
  std::vector<double> want = kept<T>(p);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] *= static_cast<double>(x[i]) / (1 - p);
  expect_written<T>(want, [&](Backend& backend, Write write, std::vector<T>& y) {
    backend.dropout(stream(), p, view(x, {kSamples, kElements}), view(y, {kSamples, kElements}),
                    write);
  });
}

template <class T, class Mask>
void expect_mask_is_dropout() {
  const double p = 0.3;
  CpuBackend backend(2);
  const std::vector<T> x = values<T>(kCount, 2);
  std::vector<Mask> mask(kCount);
  backend.dropout_mask(stream(), p, view(mask, {kSamples, kElements}));
  for (Write write : {Write::overwrite, Write::accumulate}) {
    std::vector<T> drawn = values<T>(kCount, 3), masked = drawn;
    backend.dropout(stream(), p, view(x, {kSamples, kElements}), view(drawn, {kSamples, kElements}),
                    write);
    backend.apply_mask(p, view(mask, {kSamples, kElements}), view(x, {kSamples, kElements}),
                       view(masked, {kSamples, kElements}), write);
    EXPECT_TRUE(same_bits(drawn, masked));
  }
}

TYPED_TEST(Dropout, AByteMaskIsTheSameDropout) {
  expect_mask_is_dropout<TypeParam, std::uint8_t>();
}
TYPED_TEST(Dropout, AFactorMaskIsTheSameDropout) { expect_mask_is_dropout<TypeParam, TypeParam>(); }

TYPED_TEST(Dropout, WorksInPlace) {
  using T = TypeParam;
  CpuBackend backend(2);
  const std::vector<T> x = values<T>(kCount, 4);
  std::vector<T> apart(kCount), in_place = x;
  backend.dropout(stream(), 0.5, view(x, {kSamples, kElements}), view(apart, {kSamples, kElements}),
                  Write::overwrite);
  backend.dropout(stream(), 0.5, view(in_place, {kSamples, kElements}),
                  view(in_place, {kSamples, kElements}), Write::overwrite);
  EXPECT_TRUE(same_bits(apart, in_place));
}

TEST(DropoutStream, AMicroBatchIsASliceOfTheBatch) {
  CpuBackend backend(2);
  std::vector<float> whole(kCount), part(2 * kElements);
  backend.dropout_mask(stream(), 0.5, view(whole, {kSamples, kElements}));
  backend.dropout_mask(stream(3), 0.5, view(part, {2, kElements}));
  EXPECT_EQ(part, std::vector<float>(whole.begin() + 3 * kElements, whole.begin() + 5 * kElements));
}

}  // namespace
}  // namespace arenagrad
