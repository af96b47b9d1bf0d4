#include <algorithm>
#include <cmath>
#include <random>

#include "tests/layers/variants.h"

namespace arenagrad::testing {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// Uniform, rounded to f32.
  double uniform(double low, double high) {
    const double unit = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return static_cast<double>(static_cast<float>(low + (high - low) * unit));
  }

  std::vector<double> uniforms(std::int64_t count, double low, double high) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = uniform(low, high);
    return values;
  }

  /// Distinct values around 0, neighbours 2 * kKinkMargin apart, in random order.
  std::vector<double> distinct(std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(2 * kKinkMargin *
                                     (static_cast<double>(i) - static_cast<double>(count) / 2));
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[engine_() % i]);
    return values;
  }

  std::vector<double> labels(std::int64_t count, std::int64_t classes) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values)
      value = static_cast<double>(engine_() % static_cast<std::uint64_t>(classes));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

/// Pushes values that lie too close to a kink away from it, to the side where they are.
void avoid(std::vector<double>& values, double kink) {
  for (double& value : values)
    if (std::abs(value - kink) < kKinkMargin)
      value = static_cast<float>(kink + (value < kink ? -2 : 2) * kKinkMargin);
}

std::vector<double> draw_input(Draw& draw, Kinks kinks, std::int64_t count) {
  switch (kinks) {
    case Kinks::none: return draw.uniforms(count, -1.5, 1.5);
    case Kinks::at_ties: return draw.distinct(count);
    case Kinks::at_zero: {
      std::vector<double> values = draw.uniforms(count, -1.5, 1.5);
      avoid(values, 0);
      return values;
    }
    case Kinks::at_zero_and_six: {
      std::vector<double> values = draw.uniforms(count, -3, 9);
      avoid(values, 0);
      avoid(values, 6);
      return values;
    }
  }
  return {};
}

std::vector<double> draw_state(Draw& draw, const StateSpec& state) {
  if (state.name == "running_var") return draw.uniforms(state.shape.elements(), 0.5, 1.5);
  if (state.dtype == DType::i64) return {41};
  return draw.uniforms(state.shape.elements(), -0.5, 0.5);
}

}  // namespace

Values draw_values(const Variant& variant, const Layer& layer, std::uint64_t seed) {
  Draw draw(seed);
  const Signature signature = layer.signature(variant.inputs);
  Values values;
  for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
    const std::int64_t count = variant.inputs[i].with_batch(variant.batch).elements();
    if (layer.is_loss() && i + 1 == variant.inputs.size())
      values.inputs.push_back(draw.labels(count, variant.inputs[0][0]));
    else
      values.inputs.push_back(draw_input(draw, variant.kinks, count));
  }
  for (const ParameterSpec& parameter : signature.parameters)
    values.parameters.push_back(draw.uniforms(parameter.shape.elements(), -1, 1));
  for (const StateSpec& state : signature.states) values.states.push_back(draw_state(draw, state));
  if (layer.is_loss())
    values.seed = 0.375;
  else
    values.output_gradient =
        draw.uniforms(signature.output.with_batch(variant.batch).elements(), -1, 1);
  return values;
}

}  // namespace arenagrad::testing
