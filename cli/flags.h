// The flags of a verb, as typed and as meant.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch_flags.h"
#include "cli/device_flags.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "experiments/compare.h"
#include "experiments/settings.h"
#include "kernels/shape.h"

namespace arenagrad::cli {

struct Flags {
  // As typed; `settings()` puts them together.
  std::string spec;
  std::optional<std::int64_t> batch, micro_batch;
  Recompute recompute;
  std::vector<GradientMode> modes;  // one, save for compare
  SavedPolicy policy = SavedPolicy::lean;
  std::string strategy = "best-fit";
  std::optional<std::size_t> capacity;
  OptimizerSpec::Kind optimizer = OptimizerSpec::Kind::none;
  std::optional<double> learning_rate, momentum, weight_decay;
  bool nesterov = false, eval = false, no_grad = false, calibrate = false;
  std::optional<Shape> input;
  DType dtype = DType::f32;
  std::uint64_t seed = 0;
  std::int64_t threads = 0, top = 10;
  std::optional<std::int64_t> steps;  // none: see default_steps in flags.cc
  std::string images, labels;
  Reference reference = Reference::automatic;
  bool events = false;                                    // in the JSON; plan and run
  std::string trace;                                      // file to record to; plan and run
  std::string trace_in, trace_out, trace_from, trace_to;  // of the verb trace: files and formats
  std::optional<std::int64_t> trace_device;
  bool no_offsets = false;             // trace: the requests alone
  std::vector<std::string> report_in;  // files of JSON; report
  std::string report_out;
  std::vector<std::string> only;  // strategies; allocators
  std::optional<double> budget;   // seconds; allocators, fit
  BatchFlags batches;             // of sweep and fit
  DeviceFlags device;
  OutputFlags output;
  Outputs outputs;  // every file that a flag names to be written

  bool compares = false;          // the verb runs several modes
  std::vector<std::string> argv;  // the whole command line, program name first

  /// Checks what flags mean together and fills in defaults. `default_batch` is the verb's. Throws
  /// UsageError.
  Settings settings(std::int64_t default_batch) const;
};

/// Adds the flags that every verb with a spec has, in groups, to its command. `flags` outlives it.
void add_common_flags(CLI::App& command, Flags& flags);
/// Takes away a common flag that would mean nothing.
void remove_flag(CLI::App& command, const char* flag);
/// Adds those of the verb allocators.
void add_lab_flags(CLI::App& command, Flags& flags);
/// Adds those of the verb trace.
void add_trace_flags(CLI::App& command, Flags& flags);
/// Adds those of the verb report.
void add_report_flags(CLI::App& command, Flags& flags);
/// Adds --format, --json and --quiet alone.
void add_output_flags(CLI::App& command, Flags& flags);

}  // namespace arenagrad::cli
