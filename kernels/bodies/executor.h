// What a body may expect of the executor that runs it. An executor is a small copyable class with
// three member templates; it allocates nothing.
//
//   for_each(n, body, elements)           body(i) for i in [0, n)
//   for_grid(rows, columns, body, elements)
//                                         body(row, column) for all pairs; what depends on `row`
//                                         alone is cheap, neighbouring columns run side by side
//   reduce_rows(rows, columns, body)      for each row: body.finish(row, v), v being the fixed tree
//                                         below over body.load(row, column)
//
// Calls of one launch run in any order and at the same time, so a body writes what is its own
// alone: item i may read and write its own elements (in place), never another item's. `elements` is
// about how many elements one call touches: a hint for cutting the work, never for the result.
// Launches of one executor follow each other.
//
// The tree: lane l of kReductionLanes combines columns l, l + kReductionLanes, ... in rising order,
// starting from body.identity(); then lanes l and l + h are combined for h = lanes/2, ..., 2, 1. So
// a sum has the same bits with any number of threads and on any device. A reduction's body has
//
//   using Value = ...;
//   Value identity() const;                   Value load(row, column) const;
//   Value combine(Value, Value) const;        void finish(row, Value) const;
//
// `finish` runs after all loads of its row, and may overwrite what they read.
//
// Exec::kStrip is how many neighbouring columns a body with an inner loop takes in one call: many
// on a CPU, which then runs the columns side by side in vector registers; 1 on a GPU, whose threads
// are the columns. A column's result is the same for every width. Exec::Planes and Exec::Order are
// the types of kernels/bodies/layout.h that fit the layouts which the device has.
#pragma once

namespace arenagrad::bodies {

/// The width of a warp: on a GPU a warp reduces a row.
inline constexpr int kReductionLanes = 32;

}  // namespace arenagrad::bodies
