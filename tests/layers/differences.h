// Comparing results, and derivatives by differences.
#pragma once

#include <vector>

#include "tests/layers/variants.h"

namespace arenagrad::testing {

using List = std::vector<double>;

/// Largest |value|; 0 for an empty list.
double largest(const List& values);
/// Largest |a - b|; infinity when the sizes differ or anything is NaN.
double largest_difference(const List& a, const List& b);
/// The same numbers, bit for bit, NaNs of the same bits included.
bool same_bits(const List& a, const List& b);
bool same_bits(const std::vector<List>& a, const std::vector<List>& b);

struct Gradients {
  std::vector<List> inputs, parameters;  // as in Outcome: empty for labels
};

/// Gradients of sum(output_gradient * output), or of seed * loss, by central differences of fourth
/// order. The step is far below kKinkMargin.
Gradients gradients_by_differences(const Variant& variant, const Layer& layer,
                                   const Scenario& scenario, const Values& values);

/// One number for each tensor instead: the derivative along a direction, whose components lie in
/// [-1, 1]. A wrong element anywhere changes it. `directions` are shaped as the gradients are.
Gradients derivatives_along(const Gradients& directions, const Variant& variant, const Layer& layer,
                            const Scenario& scenario, const Values& values);

}  // namespace arenagrad::testing
