#include "tests/numeric/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace arenagrad::numeric {
namespace {

/// NaN counts as infinitely large, so that it never passes for small.
double magnitude(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) result = std::max(result, magnitude(value));
  return result;
}

Worst worst_element(const std::string& name, const std::vector<double>& expected,
                    const std::vector<double>& got) {
  Worst worst{.error = 0, .name = name};
  const double scale = largest(expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = magnitude(expected[i] - got[i]);
    const double error = difference == 0 ? 0 : difference / scale;
    if (error > worst.error || std::isnan(error))
      worst = {magnitude(error), name, i, expected[i], got[i]};
  }
  return worst;
}

}  // namespace

double limit(Kind kind, DType dtype, bool stored_as_f32) {
  if (dtype == DType::f32) return 1e-5;
  const double computed = kind == Kind::parameter_after2 ? 1e-10 : 1e-11;
  return stored_as_f32 ? 0x1p-24 + computed : computed;
}

Comparison compare(const Results& expected, const Results& got, DType dtype) {
  Comparison result;
  for (const auto& [kind, tensors] : expected) {
    double scale = 0;
    for (const auto& [name, tensor] : tensors) scale = std::max(scale, largest(tensor.values));
    const double zero = 0.1 * limit(kind, dtype, false) * scale;

    Worst& worst = result.worst[kind];
    const auto of_kind = got.find(kind);
    for (const auto& [name, tensor] : tensors) {
      const std::vector<double>& values = tensor.values;
      const double allowed = limit(kind, dtype, tensor.stored_as_f32);
      const std::string what = fmt::format("{} {}", arenagrad::numeric::name(kind), name);
      if (of_kind == got.end() || !of_kind->second.contains(name)) {
        result.failures.push_back(what + ": expected a tensor, got none");
        continue;
      }
      const std::vector<double>& measured = of_kind->second.at(name).values;
      if (measured.size() != values.size()) {
        result.failures.push_back(
            fmt::format("{}: expected {} elements, got {}", what, values.size(), measured.size()));
        continue;
      }
      if (largest(values) < zero && largest(measured) < zero) {
        ++result.zeros[kind];
        continue;
      }
      const Worst here = worst_element(name, values, measured);
      if (!(here.error <= allowed)) {
        result.failures.push_back(
            fmt::format("{}[{}]: expected {:.17g}, got {:.17g}: {:.2g} of the tensor's largest "
                        "value, limit {:.1g}",
                        what, here.place, here.expected, here.got, here.error, allowed));
      }
      if (worst.name.empty() || !(here.error <= worst.error)) worst = here;
    }
  }
  return result;
}

}  // namespace arenagrad::numeric
