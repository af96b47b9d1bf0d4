// Shorthands of the layer tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "layers/layers.h"
#include "tests/layers/harness.h"

namespace arenagrad::testing {

inline Signature signature_of(const Layer& layer, const std::vector<Shape>& inputs) {
  return layer.signature(inputs);
}

/// The output's shape per sample.
inline Shape output_of(const Layer& layer, const std::vector<Shape>& inputs) {
  return layer.signature(inputs).output;
}

/// What the layer needs for `batch` samples of these shapes.
inline Needs needs_for(const Layer& layer, const std::vector<Shape>& inputs,
                       const Scenario& scenario = {}, std::int64_t batch = 2) {
  return needs_of({layer, inputs, batch}, scenario);
}

inline Scenario lean(RunMode mode = RunMode::train) {
  Scenario scenario;
  scenario.mode = mode;
  scenario.dtype = DType::f32;
  return scenario;
}
inline Scenario pytorch(RunMode mode = RunMode::train) {
  Scenario scenario = lean(mode);
  scenario.policy = SavedPolicy::pytorch;
  return scenario;
}

inline std::size_t bytes_of(const StashSpec& stash) {
  return static_cast<std::size_t>(stash.shape.elements()) * size_of(stash.dtype);
}

/// Runs `body`, which has to throw an E whose text holds all of `parts`.
template <class E, class Body>
void expect_error(Body body, const std::vector<std::string>& parts) {
  try {
    body();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    const std::string text = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  }
}

}  // namespace arenagrad::testing
