// A case of a reference folder: a net, where it starts, and what became of it elsewhere.
//
// The folder holds cases.json and, in a folder per case, one .npy a tensor. cases.json says of each
// case the mode, batch, input shape, classes, layers (see net.h), the losses and the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/options.h"
#include "tests/numeric/net.h"
#include "tests/numeric/results.h"

namespace arenagrad::numeric {

struct ReferenceCase {
  std::string name;
  RunMode run = RunMode::train;
  std::int64_t batch = 0;
  OptimizerSpec optimizer;
  Net net;
  std::vector<double> samples;  // batch x sample
  std::vector<std::int64_t> labels;
  std::vector<std::vector<double>> parameters;  // by ParameterId, initial
  std::vector<std::vector<double>> states;      // by StateId, initial; empty: the layer's own start
  Results f32, f64;                             // expected of a run in that type

  const Results& expected(DType dtype) const { return dtype == DType::f32 ? f32 : f64; }
};

/// All cases of `folder`, in the order of their names, with what is expected of runs in `dtype`
/// (none: of both types). Throws Error that names the case and the file for whatever is missing or
/// doesn't fit.
std::vector<ReferenceCase> read_cases(const std::string& folder, std::optional<DType> dtype);

}  // namespace arenagrad::numeric
