// A row for each layer: what it makes, holds and costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace arenagrad {

/// Bytes and multiply-adds are those of one recorded forward of `samples` samples.
struct LayerRow {
  std::string name, op;
  Shape output;                    // per sample
  std::int64_t parameters = 0;     // elements; shared ones are counted where they appear first
  std::int64_t multiply_adds = 0;  // convolution and linear
  std::size_t output_bytes = 0;    // memory of its own; 0 when it is its input's memory
  std::size_t saved = 0;           // kept for backward, charged to the first layer that keeps it
  std::size_t workspace = 0;       // the larger of forward's and backward's
};

struct LayerTable {
  std::vector<LayerRow> rows;
  LayerRow total;  // sums; workspace: the largest
  std::int64_t samples = 0;
  /// Multiply-adds beyond 64 bits are cut to the largest number.
  bool overflow = false;
};

LayerTable layer_table(const Experiment& experiment);

}  // namespace arenagrad
