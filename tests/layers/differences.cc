#include "tests/layers/differences.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace arenagrad::testing {
namespace {

constexpr double kStep = 1e-3;
static_assert(4 * kStep < kKinkMargin);

/// Forward of a layer with its values open to change.
class Function {
 public:
  Function(const Variant& variant, const Layer& layer, Scenario scenario, const Values& values)
      : subject_{layer, variant.inputs, variant.batch}, scenario_(scenario), values_(values) {
    scenario_.saves = false;
    scenario_.updates_state = false;
  }

  Values& values() { return values_; }

  /// d sum(w * y) / d(variable) by four evaluations around where it is; `move(t)` puts it at a
  /// distance t from there.
  template <class Move>
  double derivative(Move move) {
    const auto at = [&](double distance) {
      move(distance);
      List output = run(subject_, scenario_, values_).output;
      move(0);
      return output;
    };
    const List near_above = at(kStep), near_below = at(-kStep);
    const List far_above = at(2 * kStep), far_below = at(-2 * kStep);
    double total = 0;
    for (std::size_t i = 0; i < near_above.size(); ++i) {
      const double weight =
          values_.output_gradient.empty() ? values_.seed : values_.output_gradient[i];
      total += weight * (8 * (near_above[i] - near_below[i]) - (far_above[i] - far_below[i]));
    }
    return total / (12 * kStep);
  }

 private:
  Subject subject_;
  Scenario scenario_;
  Values values_;
};

}  // namespace

double largest(const List& values) {
  double result = 0;
  for (const double value : values) result = std::fmax(result, std::abs(value));
  return result;
}

double largest_difference(const List& a, const List& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    result = std::fmax(result, difference);
  }
  return result;
}

bool same_bits(const List& a, const List& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool same_bits(const std::vector<List>& a, const std::vector<List>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return true;
}

Gradients gradients_by_differences(const Variant& variant, const Layer& layer,
                                   const Scenario& scenario, const Values& values) {
  Function function(variant, layer, scenario, values);
  const auto gradients_of = [&](std::vector<List>& lists, std::size_t count) {
    std::vector<List> gradients(lists.size());
    for (std::size_t i = 0; i < count; ++i)
      for (double& variable : lists[i])
        gradients[i].push_back(function.derivative(
            [&variable, centre = variable](double distance) { variable = centre + distance; }));
    return gradients;
  };
  const std::size_t labels = layer.is_loss() ? 1 : 0;
  Values& open = function.values();
  Gradients gradients;
  gradients.inputs = gradients_of(open.inputs, open.inputs.size() - labels);
  gradients.parameters = gradients_of(open.parameters, open.parameters.size());
  return gradients;
}

Gradients derivatives_along(const Gradients& directions, const Variant& variant, const Layer& layer,
                            const Scenario& scenario, const Values& values) {
  Function function(variant, layer, scenario, values);
  const auto derivatives_of = [&](std::vector<List>& lists, const std::vector<List>& along) {
    std::vector<List> derivatives(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (along[i].empty()) continue;
      derivatives[i].push_back(function.derivative([&, centre = lists[i]](double distance) {
        for (std::size_t k = 0; k < centre.size(); ++k)
          lists[i][k] = centre[k] + distance * along[i][k];
      }));
    }
    return derivatives;
  };
  Values& open = function.values();
  Gradients derivatives;
  derivatives.inputs = derivatives_of(open.inputs, directions.inputs);
  derivatives.parameters = derivatives_of(open.parameters, directions.parameters);
  return derivatives;
}

}  // namespace arenagrad::testing
