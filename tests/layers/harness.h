// Runs one layer by itself, forward and backward, giving it exactly what it declares and taking
// away after forward whatever it did not ask to keep. Independent of the planner and the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/layer.h"
#include "tests/layers/guarded_memory.h"

namespace arenagrad::testing {

/// A layer, applied to inputs of these shapes.
struct Subject {
  const Layer& layer;
  std::vector<Shape> inputs;  // per sample; a loss's last one is its labels
  std::int64_t batch;
};

/// What goes in, as doubles: whole tensors, batch included.
struct Values {
  std::vector<std::vector<double>> inputs, parameters, states;
  std::vector<double> output_gradient;  // empty for a loss
  double seed = 1;                      // of a loss
};

struct Scenario {
  RunMode mode = RunMode::train;
  SavedPolicy policy = SavedPolicy::lean;
  DType dtype = DType::f64;
  int threads = 1;
  std::uint8_t fill = kNanFill;
  bool forward_in_place = false;   // output over input 0; only where the layer allows it
  bool backward_in_place = false;  // input 0's gradient over the output's; likewise
  Write write = Write::overwrite;
  bool saves = true;  // false: forward alone
  bool updates_state = false;
  std::optional<double> momentum = std::nullopt;            // overrides batch norm's own
  bool input_gradients = true, parameter_gradients = true;  // wanted
  bool mask_is_float = true;
};

/// What comes out. Empty lists where nothing was wanted.
struct Outcome {
  std::vector<double> output;
  std::vector<std::vector<double>> input_gradients, parameter_gradients, states, stashes;
};

/// A gradient to accumulate on starts as prior_gradient(0), prior_gradient(1), ...
double prior_gradient(std::size_t element);

Needs needs_of(const Subject& subject, const Scenario& scenario);

/// Throws ContractError when the layer reaches for what it did not declare, or writes outside.
Outcome run(const Subject& subject, const Scenario& scenario, const Values& values);

}  // namespace arenagrad::testing
