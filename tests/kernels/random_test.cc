#include "kernels/bodies/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/kernels/backend_support.h"

namespace arenagrad {
namespace {

using namespace cpu_test;

struct KnownAnswer {
  bodies::PhiloxCounter counter;
  bodies::PhiloxKey key;
  bodies::PhiloxCounter answer;
};

// The published test vectors of Philox 4x32-10.
const KnownAnswer kKnownAnswers[] = {
    {{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}}},
    {{{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}},
     {{0xFFFFFFFF, 0xFFFFFFFF}},
     {{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}}},
    {{{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}},
     {{0xA4093822, 0x299F31D0}},
     {{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}}},
};

TEST(Philox, GivesThePublishedAnswers) {
  for (const KnownAnswer& known : kKnownAnswers) {
    const bodies::PhiloxCounter got = bodies::philox(known.counter, known.key);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], known.answer.word[i]) << "word " << i;
  }
}

TEST(Random, KeysDifferByEachPart) {
  std::set<std::uint64_t> keys;
  const auto add = [&](std::uint64_t seed, RandomPurpose purpose, std::uint32_t node) {
    const auto key = bodies::philox_key({seed, purpose, node, 0, 0});
    keys.insert((std::uint64_t{key.word[1]} << 32) | key.word[0]);
  };
  for (std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (auto purpose : {RandomPurpose::initialisation, RandomPurpose::noise, RandomPurpose::labels,
                         RandomPurpose::dropout, RandomPurpose::shuffling})
      for (std::uint32_t node = 0; node < 100; ++node) add(seed, purpose, node);
  EXPECT_EQ(keys.size(), 3u * 5 * 100);
}

TEST(Random, LogarithmIsExactToTwoUlps) {
  for (int i = 0; i <= 3000; ++i) {
    const float u = static_cast<float>(std::exp2(-i * 0.0106666));
    const double want = std::log(static_cast<double>(u));
    EXPECT_NEAR(bodies::natural_log(u), want, 2.4e-7 * std::abs(want)) << u;
  }
  EXPECT_EQ(bodies::natural_log(1.0f), 0.0f);
}

TEST(Random, NormalPairIsBoxAndMuller) {
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const auto words = bodies::philox({{i, 0, 0, 0}}, {{1, 2}});
    float a, b;
    bodies::normal_pair(words.word[0], words.word[1], &a, &b);
    const auto u = static_cast<float>((words.word[0] >> 1) * 0x1p-31 + 0x1p-32);
    const double radius = std::sqrt(-2 * std::log(double{u}));
    const double quarter = static_cast<std::int32_t>(words.word[1] << 2) * 0x1p-32;
    const double angle = std::acos(-1.0) / 2 * (quarter + (words.word[1] >> 30));
    EXPECT_NEAR(a, radius * std::cos(angle), 1e-6);
    EXPECT_NEAR(b, radius * std::sin(angle), 1e-6);
  }
}

RandomStream stream(RandomPurpose purpose, std::int64_t first_sample = 0, std::uint32_t step = 0) {
  return {42, purpose, 3, step, first_sample};
}

struct Moments {
  double mean, variance, fourth;
};

template <class T>
Moments moments(const std::vector<T>& x) {
  Moments m{};
  const double n = static_cast<double>(x.size());
  for (T v : x) m.mean += v / n;
  for (T v : x) {
    const double square = (v - m.mean) * (v - m.mean);
    m.variance += square / n;
    m.fourth += square * square / n;
  }
  return m;
}

template <class T>
class RandomValues : public ::testing::Test {};
TYPED_TEST_SUITE(RandomValues, Floats);

TYPED_TEST(RandomValues, NormalHasItsMoments) {
  using T = TypeParam;
  const auto x = at_any_threads([](Backend& backend) {
    std::vector<T> out(7 * 3 * 4001);
    backend.normal(stream(RandomPurpose::noise), 2.0, view(out, {7, 3, 4001}));
    return out;
  });
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.03);  // about four standard errors
  EXPECT_NEAR(m.variance, 4, 0.08);
  EXPECT_NEAR(m.fourth / (m.variance * m.variance), 3, 0.15);
}

TYPED_TEST(RandomValues, UniformFillsItsInterval) {
  using T = TypeParam;
  const auto x = at_any_threads([](Backend& backend) {
    std::vector<T> out(5 * 16001);
    backend.uniform(stream(RandomPurpose::initialisation), 0.5, view(out, {5, 16001}));
    return out;
  });
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  EXPECT_GE(*low, T(-0.5));
  EXPECT_LT(*high, T(0.5));
  EXPECT_LT(*low, T(-0.4999));
  EXPECT_GT(*high, T(0.4999));
  EXPECT_NEAR(moments(x).mean, 0, 0.005);
  EXPECT_NEAR(moments(x).variance, 1.0 / 12, 0.002);
}

TEST(Random, DoublesAreWidenedFloats) {
  CpuBackend backend(1);
  std::vector<float> narrow(2 * 5);
  std::vector<double> wide(2 * 5);
  backend.normal(stream(RandomPurpose::noise), 0.3, view(narrow, {2, 5}));
  backend.normal(stream(RandomPurpose::noise), 0.3, view(wide, {2, 5}));
  for (std::size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(wide[i], double{narrow[i]});
  backend.uniform(stream(RandomPurpose::noise), 0.3, view(narrow, {2, 5}));
  backend.uniform(stream(RandomPurpose::noise), 0.3, view(wide, {2, 5}));
  for (std::size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(wide[i], double{narrow[i]});
}

TEST(Random, AMicroBatchIsASliceOfTheBatch) {
  CpuBackend backend(2);
  constexpr std::int64_t kElements = 3 * 7 + 2;
  std::vector<float> whole(6 * kElements), part(2 * kElements);
  backend.normal(stream(RandomPurpose::noise), 1, view(whole, {6, kElements}));
  backend.normal(stream(RandomPurpose::noise, 3), 1, view(part, {2, kElements}));
  EXPECT_EQ(part, std::vector<float>(whole.begin() + 3 * kElements, whole.begin() + 5 * kElements));
  std::vector<std::int64_t> labels(50), some(20);
  backend.uniform_labels(stream(RandomPurpose::labels), 10, view(labels, {50}));
  backend.uniform_labels(stream(RandomPurpose::labels, 17), 10, view(some, {20}));
  EXPECT_EQ(some, std::vector<std::int64_t>(labels.begin() + 17, labels.begin() + 37));
}

TEST(Random, NothingRepeats) {
  CpuBackend backend(1);
  std::set<float> seen;
  std::size_t drawn = 0;
  const auto draw = [&](const RandomStream& from) {
    std::vector<float> x(3 * 11);
    backend.normal(from, 1, view(x, {3, 11}));
    seen.insert(x.begin(), x.end());
    drawn += x.size();
  };
  draw(stream(RandomPurpose::noise));
  draw(stream(RandomPurpose::noise, 3));
  draw(stream(RandomPurpose::noise, 0, 1));
  draw(stream(RandomPurpose::dropout));
  draw({43, RandomPurpose::noise, 3, 0, 0});
  draw({42, RandomPurpose::noise, 4, 0, 0});
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Random, ParametersDontDependOnHowTheyAreCut) {
  CpuBackend backend(1);
  std::vector<float> flat(6 * 5 * 3), cut(6 * 5 * 3);
  backend.uniform(stream(RandomPurpose::initialisation), 1, view(flat, {90}));
  backend.uniform(stream(RandomPurpose::initialisation), 1, view(cut, {6, 5, 3}));
  EXPECT_EQ(flat, cut);
}

TEST(Random, ScalarIsFilled) {
  CpuBackend backend(1);
  std::vector<float> x = filled<float>(1, 0xFF);
  backend.normal(stream(RandomPurpose::noise), 1, Tensor{x.data(), Shape(), DType::f32});
  EXPECT_TRUE(std::isfinite(x[0]));
}

TEST(Random, LabelsAreUniform) {
  constexpr std::int64_t kClasses = 7, kCount = 40000;
  const auto labels = at_any_threads([](Backend& backend) {
    std::vector<std::int64_t> out(kCount);
    backend.uniform_labels(stream(RandomPurpose::labels), kClasses, view(out, {kCount}));
    return out;
  });
  std::vector<int> count(kClasses);
  for (std::int64_t label : labels) {
    ASSERT_GE(label, 0);
    ASSERT_LT(label, kClasses);
    ++count[static_cast<std::size_t>(label)];
  }
  const double expected = static_cast<double>(kCount) / kClasses;
  double chi_squared = 0;
  for (int n : count) chi_squared += (n - expected) * (n - expected) / expected;
  EXPECT_LT(chi_squared, 22.5);  // 6 degrees of freedom: passed by 1 of 1000 uniform samples
}

}  // namespace
}  // namespace arenagrad
