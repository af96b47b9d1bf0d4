#include "cli/flags.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "allocator/strategy.h"
#include "allocator/traces/formats.h"
#include "cli/gnuplot.h"
#include "cli/parse.h"

namespace arenagrad::cli {
namespace {

/// An option whose text goes through a parser of ours, so that errors are worded our way.
template <class Target, class Parser>
void add(CLI::App& command, const char* group, const std::string& flag, const char* value,
         const std::string& text, Target& target, Parser parser) {
  command
      .add_option_function<std::string>(
          flag, [&target, flag, parser](const std::string& typed) { target = parser(flag, typed); },
          text)
      ->type_name(value)
      ->group(group);
}

void add_switch(CLI::App& command, const char* group, const char* flag, const char* text,
                bool& target) {
  command.add_flag(flag, target, text)->group(group);
}

auto integer(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return [least, most](const std::string& flag, const std::string& text) {
    return parse_integer(flag, text, least, most);
  };
}

auto real(double least) {
  return [least](const std::string& flag, const std::string& text) {
    return parse_real(flag, text, least);
  };
}

std::string strategy_help() {
  std::string text = "how the arena is cut up (default best-fit):";
  for (const auto& strategy : strategies())
    text += "\n" + std::string(strategy.name) + ": " + std::string(strategy.summary);
  for (const auto& strategy : opaque_strategies())
    text += "\n" + std::string(strategy.name) + ": " + std::string(strategy.summary);
  return text;
}

/// An opaque strategy is a GPU's own: it can be run with, and where buffers lie is not known.
void check_opaque(const Flags& flags) {
  if (!find_strategy(flags.strategy).opaque) return;
  if (!flags.device.executes || flags.compares)
    throw UsageError("--strategy: expected one that says where buffers lie, got " + flags.strategy +
                     ", which is opaque: it can be run with (arenagrad run --device cuda), not "
                     "planned or compared");
  if (flags.device.choice.device == "cpu")
    throw UsageError("--strategy " + flags.strategy +
                     ": expected a GPU as --device, got cpu: the pool is CUDA's");
  const char* given = flags.events                             ? "--events"
                      : !flags.trace.empty()                   ? "--trace"
                      : flags.device.arena == ArenaKind::fixed ? "--arena fixed"
                                                               : nullptr;
  if (given != nullptr)
    throw UsageError(std::string(given) + ": expected a --strategy that says where buffers lie, " +
                     "got " + flags.strategy + ", which is opaque");
}

/// A trace has its requests; what would decide on a model's has no effect on them.
void check_lab_flags(const CLI::App& command, const Flags& flags) {
  if (flags.trace.empty()) return;
  for (const auto* option : command.get_options()) {
    const auto& group = option->get_group();
    const bool of_requests = group == "Work" || group == "Memory" || group == "Optimizer" ||
                             group == "Data" || group == "Device";
    if (of_requests && option->count() > 0 && option->get_name() != "--capacity")
      throw UsageError(option->get_name() +
                       ": expected a SPEC, whose requests it decides on, got --trace " +
                       flags.trace + ", which has its own");
  }
}

std::string trace_endings() {
  std::string text;
  for (const auto& format : trace_formats())
    text += (text.empty() ? "" : ", ") + std::string(format.extension);
  return text;
}

OptimizerSpec optimizer_of(const Flags& flags) {
  using Kind = OptimizerSpec::Kind;
  const bool adam = flags.optimizer == Kind::adam || flags.optimizer == Kind::adamw;
  const auto needs = [&](bool given, bool holds, const char* flag, const char* what) {
    if (given && !holds)
      throw UsageError(std::string(flag) + ": expected " + what + ", got --optimizer " +
                       std::string(name(flags.optimizer)));
  };
  const bool any = flags.optimizer != Kind::none, sgd = flags.optimizer == Kind::sgd;
  needs(flags.learning_rate.has_value(), any, "--lr", "an --optimizer that updates");
  needs(flags.weight_decay.has_value(), any, "--weight-decay", "an --optimizer that updates");
  needs(flags.momentum.has_value(), sgd, "--momentum", "--optimizer sgd");
  needs(flags.nesterov, sgd, "--nesterov", "--optimizer sgd");
  OptimizerSpec spec;
  spec.kind = flags.optimizer;
  spec.learning_rate = flags.learning_rate.value_or(adam ? 1e-3 : 1e-2);
  spec.momentum = flags.momentum.value_or(0);
  spec.nesterov = flags.nesterov;
  // PyTorch's AdamW shrinks weights by 0.01 unless told otherwise.
  spec.weight_decay = flags.weight_decay.value_or(flags.optimizer == Kind::adamw ? 1e-2 : 0);
  if (spec.nesterov && spec.momentum == 0)
    throw UsageError("--nesterov: expected a --momentum above 0, got 0");
  return spec;
}

/// A steady step, with all that there is.
std::int64_t default_steps(const OptimizerSpec& optimizer) {
  return optimizer.states_per_parameter() > 0 ? 2 : 1;
}

}  // namespace

void remove_flag(CLI::App& command, const char* flag) {
  command.remove_option(command.get_option(flag));
}

Settings Flags::settings(std::int64_t default_batch) const {
  check_opaque(*this);
  Settings result;
  auto& plan = result.plan;
  plan.mode = modes.empty() ? GradientMode::full_batch : modes.front();
  plan.batching.batch = batch.value_or(default_batch);
  const bool whole = modes.size() <= 1 && plan.mode == GradientMode::full_batch;
  plan.batching.micro_batch = micro_batch.value_or(whole && !compares ? plan.batching.batch : 1);
  if (plan.batching.micro_batch > plan.batching.batch)
    throw UsageError("--micro-batch: expected at most the batch, " +
                     std::to_string(plan.batching.batch) + ", got " +
                     std::to_string(plan.batching.micro_batch));
  plan.policy = policy;
  plan.recompute = recompute;
  plan.optimizer = optimizer_of(*this);
  if (no_grad && optimizer != OptimizerSpec::Kind::none)
    throw UsageError("--no-grad: expected --optimizer none, got " + std::string(name(optimizer)));
  if (no_grad && recompute.kind != Recompute::Kind::none)
    throw UsageError("--recompute: expected gradients to recompute for, got --no-grad");
  plan.run = no_grad ? RunMode::no_grad : eval ? RunMode::eval : RunMode::train;
  plan.dtype = dtype;
  plan.calibrate = calibrate;
  result.strategy = strategy;
  result.capacity = capacity;
  result.seed = seed;
  result.threads = static_cast<int>(threads);
  result.steps = steps.value_or(default_steps(plan.optimizer));
  result.top = static_cast<std::size_t>(top);
  result.profile = device.device(batches.real || batches.prove).profile();
  if (images.empty() != labels.empty())
    throw UsageError(images.empty() ? "--labels: expected --data as well"
                                    : "--data: expected --labels as well");
  return result;
}

void add_output_flags(CLI::App& command, Flags& flags) {
  const char* group = "Output";
  add(command, group, "--format", "table|md|csv|json", "what stdout carries (default table)",
      flags.output.format, parse_format);
  command
      .add_option_function<std::string>(
          "--json",
          [&flags](const std::string& path) {
            flags.output.json = flags.outputs.add("--json", path);
          },
          "also write JSON to a file; with - stdout is JSON and nothing else")
      ->type_name("FILE|-")
      ->group(group);
  const auto verb = command.get_name();
  if (verb == "sweep" || verb == "compare" || verb == "allocators" || verb == "fit")
    command
        .add_option_function<std::string>(
            "--plot",
            [&flags](const std::string& path) {
              check_plot(path);
              flags.output.plot = flags.outputs.add("--plot", path);
            },
            "also draw a picture with gnuplot; FILE.gp: its commands and data instead")
        ->type_name("FILE.svg")
        ->group(group);
  add_switch(command, group, "--quiet", "no notes and no progress on stderr", flags.output.quiet);
}

void add_lab_flags(CLI::App& command, Flags& flags) {
  flags.steps = 2;  // so that there is a steady state to compare the first step with
  add_common_flags(command, flags);
  command.get_option("SPEC")->required(false);
  // All strategies run, --only picks; no buffers are listed.
  for (const auto* flag : {"--strategy", "--top"}) remove_flag(command, flag);
  command.final_callback([&command, &flags] { check_lab_flags(command, flags); });
  command.get_option("--steps")->description(
      "training steps (default 2: the first and a steady one)");
  const char* group = "Lab";
  command
      .add_option("--trace", flags.trace,
                  "run on a recorded trace instead of a model's steps; any format that can be read")
      ->type_name("FILE")
      ->group(group);
  add(command, group, "--only", "NAME,...", "these strategies alone (default all)", flags.only,
      parse_strategies);
  add(command, group, "--budget", "SECONDS",
      "wall clock for each planner and each search; without it planners stop by steps, and results "
      "repeat exactly",
      flags.budget, real(0));
}

void add_trace_flags(CLI::App& command, Flags& flags) {
  const auto positional = [&](const char* name, const char* text, auto store) {
    command.add_option_function<std::string>(name, store, text)->required()->type_name("");
  };
  positional("ACTION", "convert", [](const std::string& typed) {
    if (typed != "convert") throw UsageError("ACTION: expected convert, got '" + typed + "'");
  });
  positional("IN", "the trace to read, or - for stdin; its format is what it begins with",
             [&flags](const std::string& path) { flags.trace_in = path; });
  positional(
      "OUT", "the file to write, or - for stdout; its format is what it ends in",
      [&flags](const std::string& path) { flags.trace_out = flags.outputs.add("OUT", path); });
  std::string formats = "the format of OUT:";
  for (const auto& format : trace_formats())
    formats += "\n" + std::string(format.name) + " (" + std::string(format.extension) +
               "): " + std::string(format.summary);
  const char* group = "Trace";
  add(command, group, "--from", "FORMAT", "the format of IN, whatever it begins with",
      flags.trace_from, parse_trace_format);
  add(command, group, "--to", "FORMAT", formats, flags.trace_to, parse_trace_format);
  add(command, group, "--device", "N", "which one's events, where a snapshot has several",
      flags.trace_device, integer(0));
  add_switch(command, group, "--no-offsets",
             "leave out offsets and driver calls: a problem for planners, not a solution",
             flags.no_offsets);
  add_output_flags(command, flags);
}

void add_report_flags(CLI::App& command, Flags& flags) {
  command
      .add_option(
          "FILE", flags.report_in,
          "JSON of plan, run, compare, sweep or summary, or of fit --frontier; two runs are "
          "compared")
      ->required()
      ->type_name("");
  add(command, "Report", "--what-if", "SPEC",
      "add a panel that tells the peak of this model for any batch, mode, policy and optimizer",
      flags.spec, [](const std::string&, const std::string& text) { return text; });
  add(command, "Report", "--batches", "A:B[:STEP]",
      "with --what-if: the batches to plan (default 1:32; others by formula), each in every mode, "
      "policy and kind of optimizer",
      flags.batches.batches, parse_range);
  add(command, "Report", "--inputs", "A:B[:STEP]", "with --what-if: heights of square images",
      flags.batches.inputs, parse_range);
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&flags](const std::string& path) { flags.report_out = flags.outputs.add("-o", path); },
          "the page to write, or - for stdout")
      ->required()
      ->type_name("FILE.html")
      ->group("Report");
  add_output_flags(command, flags);
}

void add_common_flags(CLI::App& command, Flags& flags) {
  command.add_option("SPEC", flags.spec, "a JSON spec, the name of a zoo model, or - for stdin")
      ->required()
      ->type_name("");
  const bool compares = flags.compares = command.get_name() == "compare";

  const char* group = "Work";
  add(command, group, "--batch", "N", "samples of a step (default 8; summary 1)", flags.batch,
      integer(1));
  add(command, group, "--micro-batch", "n",
      "samples of a micro-batch, the last may be smaller (default 1; full-batch: the batch)",
      flags.micro_batch, integer(1));
  if (compares)
    add(command, group, "--mode", kModeWords,
        "compare these, separated by commas, or all (default the first three; all where the loss "
        "couples samples)",
        flags.modes, parse_modes);
  else
    add(command, group, "--mode", kModeWords, "how the gradient is made (default full-batch)",
        flags.modes, [](const std::string& flag, const std::string& text) {
          return std::vector{parse_mode(flag, text)};
        });
  add_switch(command, group, "--eval", "running statistics, no dropout; gradients all the same",
             flags.eval);
  add_switch(command, group, "--no-grad", "as --eval, forward alone", flags.no_grad);
  add_switch(command, group, "--calibrate",
             "set running statistics by one train-mode forward before the first step",
             flags.calibrate);
  add(command, group, "--input", "CxHxW", "replace the spec's input shape", flags.input,
      parse_shape);
  add(command, group, "--dtype", "f32|f64", "floating type (default f32)", flags.dtype,
      parse_dtype);
  add(command, group, "--seed", "S", "of parameters, noise and dropout (default 0)", flags.seed,
      parse_seed);
  add(command, group, "--steps", "T",
      "training steps (default 1; 2 with an optimizer that keeps state, which is born in the "
      "first)",
      flags.steps, integer(1));
  add(command, group, "--threads", "T", "0: as many as there are processors (default)",
      flags.threads, integer(0, 1024));

  group = "Memory";
  add(command, group, "--policy", "lean|pytorch", "which tensors backward keeps (default lean)",
      flags.policy, parse_policy);
  add(command, group, "--recompute", "none|sqrt|every:K|LAYER,...",
      "run forward again in backward instead of keeping what it makes: cut where one tensor "
      "passes, "
      "into about as many stretches as the root of such places, at every K-th, or in front of "
      "these layers",
      flags.recompute, parse_recompute);
  // A summary places nothing, and nothing is live in it.
  if (command.get_name() != "summary") {
    add(command, group, "--strategy", "NAME", strategy_help(), flags.strategy, parse_strategy);
    add(command, group, "--capacity", "SIZE", "most memory the arena may have: 6GiB, 6GB, 512MiB",
        flags.capacity, parse_size);
    add(command, group, "--top", "K", "largest live buffers to list (default 10)", flags.top,
        integer(0));
  }

  if (const auto verb = command.get_name(); verb == "plan" || verb == "run") {
    add_switch(command, group, "--events", "put every event into the JSON, for a report",
               flags.events);
    command
        .add_option_function<std::string>(
            "--trace",
            [&flags](const std::string& path) { flags.trace = flags.outputs.add("--trace", path); },
            "record each allocation, free and driver call; the format is what FILE ends in:"
            "\n" +
                trace_endings())
        ->type_name("FILE")
        ->group(group);
  }

  group = "Optimizer";
  add(command, group, "--optimizer", "none|sgd|adam|adamw",
      "what updates parameters (default none)", flags.optimizer, parse_optimizer);
  add(command, group, "--lr", "X", "learning rate (default 0.01; adam, adamw 0.001)",
      flags.learning_rate, real(0));
  add(command, group, "--momentum", "X", "sgd (default 0)", flags.momentum, real(0));
  add_switch(command, group, "--nesterov", "sgd with momentum", flags.nesterov);
  add(command, group, "--weight-decay", "X", "default 0; adamw 0.01", flags.weight_decay, real(0));

  group = "Data";
  command
      .add_option("--data", flags.images,
                  "grey images in IDX format, scaled to the spec's shape; noise without it")
      ->type_name("IMAGES")
      ->group(group);
  command.add_option("--labels", flags.labels, "their labels, in IDX format")
      ->type_name("LABELS")
      ->group(group);
  if (compares)
    add(command, "Work", "--reference", "auto|f64|none",
        "compare each mode with an f64 run (auto: for small models)", flags.reference,
        parse_reference);
  add_device_flags(command, flags);
  add_output_flags(command, flags);
}

}  // namespace arenagrad::cli
