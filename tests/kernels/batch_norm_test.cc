#include "kernels/cpu/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu {
namespace {

using namespace cpu_test;

template <class T>
struct Data {
  explicit Data(const BatchNormProblem& p, double mean = 0)
      : p(p),
        x(values<T>(p.batch * p.channels * p.spatial, 1)),
        dy(values<T>(p.batch * p.channels * p.spatial, 2)),
        weight(values<T>(p.channels, 3)),
        bias(values<T>(p.channels, 4)),
        running_mean(values<T>(p.channels, 5)),
        running_var(values<T>(p.channels, 6)) {
    for (T& v : x) v += static_cast<T>(mean);
    for (T& v : running_var) v = v * v + T(0.1);
  }
  template <class V>
  auto planes(V& v) const {
    return view(v, {p.batch, p.channels, p.spatial});
  }
  template <class V>
  auto channels(V& v) const {
    return view(v, {p.channels});
  }
  std::int64_t channel(std::size_t i) const {
    return static_cast<std::int64_t>(i) / p.spatial % p.channels;
  }

  BatchNormProblem p;
  std::vector<T> x, dy, weight, bias, running_mean, running_var;
};

/// Per channel, in double, from the definition.
struct Statistics {
  std::vector<double> mean, var, sum_dy, sum_dy_x;  // sum_dy_x: dy times normalised x
};

template <class T>
Statistics statistics(const Data<T>& d, const std::vector<double>& means,
                      const std::vector<double>& variances) {
  const double count = static_cast<double>(d.p.batch * d.p.spatial);
  const auto channels = static_cast<std::size_t>(d.p.channels);
  Statistics s{means, variances, std::vector<double>(channels), std::vector<double>(channels)};
  if (means.empty()) {
    s.mean.assign(channels, 0), s.var.assign(channels, 0);
    for (std::size_t i = 0; i < d.x.size(); ++i) s.mean[d.channel(i)] += d.x[i] / count;
    for (std::size_t i = 0; i < d.x.size(); ++i)
      s.var[d.channel(i)] += std::pow(d.x[i] - s.mean[d.channel(i)], 2) / count;
  }
  for (std::size_t i = 0; i < d.x.size(); ++i) {
    const std::int64_t c = d.channel(i);
    s.sum_dy[c] += d.dy[i];
    s.sum_dy_x[c] += d.dy[i] * (d.x[i] - s.mean[c]) / std::sqrt(s.var[c] + d.p.eps);
  }
  return s;
}

template <class T>
std::vector<double> normalised(const Data<T>& d, const Statistics& s) {
  std::vector<double> y;
  for (std::size_t i = 0; i < d.x.size(); ++i) {
    const std::int64_t c = d.channel(i);
    y.push_back((d.x[i] - s.mean[c]) / std::sqrt(s.var[c] + d.p.eps) * d.weight[c] + d.bias[c]);
  }
  return y;
}

template <class T>
struct Trained {
  std::vector<T> running_mean, running_var, mean, inverse_std, y;
};

template <class T>
Trained<T> train(const Data<T>& d, bool in_place, int threads) {
  Trained<T> t{d.running_mean, d.running_var, filled<T>(d.p.channels, 0xFF),
               filled<T>(d.p.channels, 0xFF),
               in_place ? d.x : filled<T>(static_cast<std::int64_t>(d.x.size()), 0xFF)};
  batch_norm_train(d.p, in_place ? ConstTensor(d.planes(t.y)) : d.planes(d.x), d.channels(d.weight),
                   d.channels(d.bias), d.channels(t.running_mean), d.channels(t.running_var),
                   d.channels(t.mean), d.channels(t.inverse_std), d.planes(t.y), {}, threads);
  return t;
}

template <class T>
void check_train(const BatchNormProblem& p, double offset) {
  const Data<T> d(p, offset);
  const Trained<T> t = train(d, false, 1);
  const Statistics s = statistics(d, {}, {});
  const double limit = kLimit<T> * (1 + std::abs(offset));
  EXPECT_TRUE(close(t.y, normalised(d, s), 2 * limit));
  EXPECT_TRUE(close(t.mean, s.mean, limit));
  const double count = static_cast<double>(p.batch * p.spatial);
  std::vector<double> inverse_std, running_mean, running_var;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    inverse_std.push_back(1 / std::sqrt(s.var[c] + p.eps));
    running_mean.push_back((1 - p.momentum) * d.running_mean[c] + p.momentum * s.mean[c]);
    running_var.push_back((1 - p.momentum) * d.running_var[c] +
                          p.momentum * s.var[c] * count / (count - 1));
  }
  EXPECT_TRUE(close(t.inverse_std, inverse_std, limit));
  EXPECT_TRUE(close(t.running_mean, running_mean, limit));
  EXPECT_TRUE(close(t.running_var, running_var, limit));

  EXPECT_TRUE(same_bits(t.y, train(d, true, 1).y)) << "in place";
  for (int threads : {2, 3}) {
    const Trained<T> other = train(d, false, threads);
    EXPECT_TRUE(same_bits(t.y, other.y) && same_bits(t.mean, other.mean) &&
                same_bits(t.inverse_std, other.inverse_std) &&
                same_bits(t.running_var, other.running_var))
        << threads << " threads";
  }
}

constexpr BatchNormProblem kProblems[] = {{2, 3, 20, DType::f32, 1e-5, 0.1},
                                          {1, 5, 7, DType::f32, 1e-3, 0.3},
                                          {7, 9, 1, DType::f32, 1e-5, 0.1},
                                          {3, 1, 1000, DType::f32, 1e-5, 1.0},
                                          {1, 2, 2, DType::f32, 0.1, 0.5}};

template <class Fn>
void for_problems(const Fn& fn) {
  for (BatchNormProblem p : kProblems) {
    SCOPED_TRACE(std::to_string(p.batch) + " x " + std::to_string(p.channels) + " x " +
                 std::to_string(p.spatial));
    p.dtype = DType::f32;
    fn(float(), p);
    p.dtype = DType::f64;
    fn(double(), p);
  }
}

TEST(BatchNormTest, TrainEqualsTheDefinition) {
  for_problems([]<class T>(T, const BatchNormProblem& p) { check_train<T>(p, 0); });
}

TEST(BatchNormTest, TrainIsAccurateFarFromZero) {
  check_train<float>({4, 3, 500, DType::f32, 1e-5, 0.1}, 100);
  check_train<double>({4, 3, 500, DType::f64, 1e-5, 0.1}, 1000);
}

TEST(BatchNormTest, TrainWithoutRunningStatistics) {
  const Data<float> d({2, 3, 4, DType::f32, 1e-5, 0.1});
  std::vector<float> mean(3), inverse_std(3), y(d.x.size());
  batch_norm_train(d.p, d.planes(d.x), d.channels(d.weight), d.channels(d.bias), {}, {},
                   d.channels(mean), d.channels(inverse_std), d.planes(y), {}, 1);
  EXPECT_TRUE(same_bits(y, train(d, false, 1).y));
}

TEST(BatchNormTest, TrainRefusesOneValuePerChannel) {
  const Data<double> d({1, 3, 1, DType::f64, 1e-5, 0.1});
  try {
    train(d, false, 1);
    FAIL() << "accepted";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("more than 1 value per channel"), std::string::npos);
  }
}

TEST(BatchNormTest, EvalEqualsTheDefinition) {
  for_problems([]<class T>(T, const BatchNormProblem& p) {
    const Data<T> d(p);
    const Statistics s = statistics(d, {d.running_mean.begin(), d.running_mean.end()},
                                    {d.running_var.begin(), d.running_var.end()});
    std::vector<T> y = filled<T>(static_cast<std::int64_t>(d.x.size()), 0xFF), in_place = d.x;
    const auto run = [&](ConstTensor x, std::vector<T>& to, int threads) {
      batch_norm_eval(p, x, d.channels(d.weight), d.channels(d.bias), d.channels(d.running_mean),
                      d.channels(d.running_var), d.planes(to), {}, threads);
    };
    run(d.planes(d.x), y, 1);
    EXPECT_TRUE(close(y, normalised(d, s), 2 * kLimit<T>));
    run(d.planes(in_place), in_place, 3);
    EXPECT_TRUE(same_bits(y, in_place));
  });
}

template <class T>
struct Gradients {
  std::vector<T> dx, dweight, dbias;
};

template <class T>
struct BackwardCall {
  bool train;
  Write dx_write, parameter_write;
  bool in_place = false, with_dx = true, with_parameters = true;
  int threads = 1;
};

template <class T>
Gradients<T> backward(const Data<T>& d, const BackwardCall<T>& call) {
  const auto size = static_cast<std::int64_t>(d.x.size());
  const auto before = [](Write write, std::int64_t count, std::uint64_t seed) {
    return write == Write::accumulate ? values<T>(count, seed) : filled<T>(count, 0xFF);
  };
  Gradients<T> g{call.in_place ? d.dy : before(call.dx_write, size, 11),
                 before(call.parameter_write, d.p.channels, 12),
                 before(call.parameter_write, d.p.channels, 13)};
  const ConstTensor dy = call.in_place ? ConstTensor(d.planes(g.dx)) : d.planes(d.dy);
  const Tensor dx = call.with_dx ? d.planes(g.dx) : Tensor{};
  const Tensor dweight = call.with_parameters ? d.channels(g.dweight) : Tensor{};
  const Tensor dbias = call.with_parameters ? d.channels(g.dbias) : Tensor{};
  if (call.train) {
    const Trained<T> t = train(d, false, 1);
    batch_norm_train_backward(d.p, d.planes(d.x), dy, d.channels(d.weight), d.channels(t.mean),
                              d.channels(t.inverse_std), dx, call.dx_write, dweight, dbias,
                              call.parameter_write, {}, call.threads);
  } else {
    batch_norm_eval_backward(d.p, d.planes(d.x), dy, d.channels(d.weight),
                             d.channels(d.running_mean), d.channels(d.running_var), dx,
                             call.dx_write, dweight, dbias, call.parameter_write, {}, call.threads);
  }
  return g;
}

template <class T>
void check_backward(const BatchNormProblem& p, bool batch_statistics) {
  const Data<T> d(p);
  const Statistics s = batch_statistics
                           ? statistics(d, {}, {})
                           : statistics(d, {d.running_mean.begin(), d.running_mean.end()},
                                        {d.running_var.begin(), d.running_var.end()});
  const double count = static_cast<double>(p.batch * p.spatial);
  for (Write write : {Write::overwrite, Write::accumulate}) {
    const bool accumulate = write == Write::accumulate;
    const auto start = [&](std::int64_t size, std::uint64_t seed) {
      const std::vector<T> v = values<T>(size, seed);
      return accumulate ? std::vector<double>(v.begin(), v.end()) : std::vector<double>(size);
    };
    std::vector<double> dx = start(static_cast<std::int64_t>(d.x.size()), 11);
    std::vector<double> dweight = start(p.channels, 12), dbias = start(p.channels, 13);
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const std::int64_t c = d.channel(i);
      const double inverse_std = 1 / std::sqrt(s.var[c] + p.eps);
      const double normal = (d.x[i] - s.mean[c]) * inverse_std;
      const double centred = d.dy[i] - s.sum_dy[c] / count - normal * s.sum_dy_x[c] / count;
      dx[i] += d.weight[c] * inverse_std * (batch_statistics ? centred : double{d.dy[i]});
    }
    for (std::int64_t c = 0; c < p.channels; ++c)
      dweight[c] += s.sum_dy_x[c], dbias[c] += s.sum_dy[c];

    const Gradients<T> g = backward<T>(d, {batch_statistics, write, write});
    const double limit = 10 * kLimit<T>;
    EXPECT_TRUE(close(g.dx, dx, limit));
    EXPECT_TRUE(close(g.dweight, dweight, limit));
    EXPECT_TRUE(close(g.dbias, dbias, limit));

    for (int threads : {2, 3}) {
      BackwardCall<T> call{batch_statistics, write, write};
      call.threads = threads;
      const Gradients<T> other = backward(d, call);
      EXPECT_TRUE(same_bits(g.dx, other.dx) && same_bits(g.dweight, other.dweight) &&
                  same_bits(g.dbias, other.dbias));
    }
    BackwardCall<T> part{batch_statistics, write, write};
    part.with_parameters = false;
    EXPECT_TRUE(same_bits(g.dx, backward(d, part).dx));
    part.with_parameters = true, part.with_dx = false;
    EXPECT_TRUE(same_bits(g.dweight, backward(d, part).dweight));
    if (!accumulate) {
      BackwardCall<T> in_place{batch_statistics, write, write};
      in_place.in_place = true;
      EXPECT_TRUE(same_bits(g.dx, backward(d, in_place).dx)) << "in place";
    }
  }
}

TEST(BatchNormTest, TrainBackwardEqualsTheDefinition) {
  for_problems([]<class T>(T, const BatchNormProblem& p) { check_backward<T>(p, true); });
}

TEST(BatchNormTest, EvalBackwardEqualsTheDefinition) {
  for_problems([]<class T>(T, const BatchNormProblem& p) { check_backward<T>(p, false); });
}

/// The formulas above could be wrong in the same way as the code: central differences can't.
TEST(BatchNormTest, TrainBackwardEqualsDifferences) {
  Data<double> d({2, 2, 3, DType::f64, 1e-5, 0.1});
  const Gradients<double> g = backward<double>(d, {true, Write::overwrite, Write::overwrite});
  const auto loss = [&] {
    const std::vector<double> y = train(d, false, 1).y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * d.dy[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (auto [values, gradient] :
       {std::pair(&d.x, &g.dx), std::pair(&d.weight, &g.dweight), std::pair(&d.bias, &g.dbias)})
    for (std::size_t i = 0; i < values->size(); ++i) {
      const double before = (*values)[i];
      (*values)[i] = before + kStep;
      const double above = loss();
      (*values)[i] = before - kStep;
      const double below = loss();
      (*values)[i] = before;
      EXPECT_NEAR((above - below) / (2 * kStep), (*gradient)[i], 1e-8);
    }
}

}  // namespace
}  // namespace arenagrad::cpu
